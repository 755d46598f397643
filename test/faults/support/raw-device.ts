/**
 * A paired device that writes its requests byte by byte.
 * @module
 */

import type { DaemonProcess, PairedDevice } from '../../support/daemon-process.ts'
import { RawClient } from '../../support/raw-http.ts'

/** The header line that logs a device in, with its line end. */
export function authorizationOf({ username, password }: PairedDevice): string {
  return `Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}\r\n`
}

/** One connection to the gateway of a daemon, from an address of this machine. */
export function connectTo(
  { ready }: Pick<DaemonProcess, 'ready'>,
  localAddress?: string,
): Promise<RawClient> {
  const { hostname, port } = new URL(ready.gateway)
  return RawClient.connect(Number(port), hostname, localAddress)
}

/** The beginning of a request; `headers` end with a line end each. */
export function formatHead(line: string, device: PairedDevice, headers = ''): string {
  return `${line} HTTP/1.1\r\nHost: clipgate.example\r\n${authorizationOf(device)}${headers}\r\n`
}
