/**
 * The client of the control listener of a running daemon. Its methods throw
 * `ControlUnreachableError`, or what the daemon says went wrong.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { decodeString, objectOf, type Decoder } from '../lib/decoder.ts'
import type { RunningDaemon } from '../ports/panel.ts'
import {
  decodeDevices,
  decodeHappenings,
  decodeLeft,
  decodePairing,
  decodePause,
  decodePeer,
  decodePeers,
  decodeRevoked,
  decodeStatus,
} from './admin-wire.ts'
import { callControl, type ControlAddress } from './call-control.ts'

const decodeAddress = objectOf({ url: decodeString })
const decodeNothing = objectOf({})

/** Makes the client of a running daemon. */
export function createAdminClient(address: ControlAddress): RunningDaemon {
  function call<Value>(method: string, path: string, decode: Decoder<Value>, body?: unknown) {
    return callControl(address, { method, path, decode, body })
  }
  return {
    status: () => call('GET', '/status', decodeStatus),
    devices: () => call('GET', '/devices', decodeDevices),
    pair: (request) => call('POST', '/devices', decodePairing, request),
    rotate: async (device, url) => call('POST', `${pathOf(device)}/rotate`, decodePairing, { url }),
    revoke: async (device) => call('DELETE', pathOf(device), decodeRevoked),
    join: (request) => call('POST', '/peers', decodePeer, request),
    leave: (name) => call('DELETE', `/peers/${encodeURIComponent(name)}`, decodeLeft),
    peers: () => call('GET', '/peers', decodePeers),
    panelUrl: async () => (await call('GET', '/panel', decodeAddress)).url,
    happenings: () => call('GET', '/log', decodeHappenings),
    pause: (durationMs) => call('POST', '/pause', decodePause, { durationMs }),
    resume: async () => {
      await call('DELETE', '/pause', decodeNothing)
    },
    stop: async () => {
      await call('POST', '/stop', decodeNothing)
    },
    close: async () => undefined,
  }
}

function pathOf(device: string): string {
  // No id and no user name has other characters, and none of these means anything in a path.
  if (/^\w+$/.test(device)) return `/devices/${device}`
  throw new DomainError('NO_SUCH_DEVICE', `Cannot find a device "${device}"`)
}
