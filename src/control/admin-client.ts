/**
 * The port `Admin` over the control listener of a running daemon.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import type { Decoder } from '../lib/decoder.ts'
import type { Admin } from '../ports/admin.ts'
import {
  decodeDevices,
  decodeLeft,
  decodePairing,
  decodePeer,
  decodePeers,
  decodeRevoked,
  decodeStatus,
} from './admin-wire.ts'
import { callControl, type ControlAddress } from './call-control.ts'

/** Every method throws `ControlUnreachableError`, or what the daemon says went wrong. */
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
