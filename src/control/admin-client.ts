/**
 * Clients of the control listener of a running daemon: the port `Admin`, and what only a running
 * daemon can do. Their methods throw `ControlUnreachableError`, or what the daemon says went wrong.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { decodeString, objectOf, type Decoder } from '../lib/decoder.ts'
import type { Admin } from '../ports/admin.ts'
import type { RunningDaemon } from '../ports/panel.ts'
import {
  decodeDevices,
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

/** The port `Admin` of a running daemon. */
export function createAdminClient(address: ControlAddress): Admin {
  function call<Value>(
    method: string,
    path: string,
    decode: Decoder<Value>,
    body?: unknown,
  ): Promise<Value> {
    return callControl(address, { method, path, decode, body })
  }

  async function callDevice<Value>(
    method: string,
    device: string,
    action: string,
    decode: Decoder<Value>,
    body?: unknown,
  ): Promise<Value> {
    // No id and no user name has other characters, and none of these means anything in a path.
    if (/^\w+$/.test(device)) return call(method, `/devices/${device}${action}`, decode, body)
    throw new DomainError('NO_SUCH_DEVICE', `Cannot find a device "${device}"`)
  }

  return {
    status: () => call('GET', '/status', decodeStatus),
    devices: () => call('GET', '/devices', decodeDevices),
    pair: (request) => call('POST', '/devices', decodePairing, request),
    rotate: (device, newUrl) =>
      callDevice('POST', device, '/rotate', decodePairing, { url: newUrl }),
    revoke: (device) => callDevice('DELETE', device, '', decodeRevoked),
    join: (request) => call('POST', '/peers', decodePeer, request),
    leave: (name) => call('DELETE', `/peers/${encodeURIComponent(name)}`, decodeLeft),
    peers: () => call('GET', '/peers', decodePeers),
    close: async () => undefined,
  }
}

/** What only a running daemon can do. */
export function createDaemonClient(address: ControlAddress): RunningDaemon {
  return {
    panelUrl: async () => {
      const question = { method: 'GET', path: '/panel', decode: decodeAddress }
      return (await callControl(address, question)).url
    },
    pause: (durationMs) => {
      const body = { durationMs: durationMs ?? null }
      return callControl(address, { method: 'POST', path: '/pause', decode: decodePause, body })
    },
    resume: async () => {
      await callControl(address, { method: 'DELETE', path: '/pause', decode: decodeNothing })
    },
  }
}
