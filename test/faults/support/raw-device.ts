/** A paired device that writes its requests byte by byte. @module */

import assert from 'node:assert/strict'
import type { DaemonProcess, PairedDevice } from '../../support/daemon-process.ts'
import { RawClient, type RawResponse } from '../../support/raw-http.ts'

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

/** A whole request, with a body of characters that are bytes. */
export function formatRequest(line: string, device: PairedDevice, body = '', headers = ''): string {
  const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`
  return formatHead(line, device, headers + length) + body
}

/** Sends a request on a connection of its own. */
export async function askOnce(
  daemon: DaemonProcess,
  ...request: Parameters<typeof formatRequest>
): Promise<RawResponse> {
  const client = await connectTo(daemon)
  const [method] = request[0].split(' ', 1)
  const answer = await client.send(formatRequest(...request)).read(method)
  client.close()
  return answer
}

/** Begins a request with a body. @returns Its connection, once the daemon waits for the body. */
export async function announce(
  daemon: DaemonProcess,
  device: PairedDevice,
  line: string,
  length: number,
): Promise<RawClient> {
  const client = await connectTo(daemon)
  const headers = `Content-Length: ${length}\r\nExpect: 100-continue\r\n`
  assert.equal((await client.send(formatHead(line, device, headers)).read()).status, 100, line)
  return client
}

/** One part of a form with the boundary `b`, up to the end of its content. */
export function formatPart(disposition: string, content: string): string {
  return `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}`
}

/** The header line of a form whose parts {@link formatPart} makes. */
export const FORM_TYPE = 'Content-Type: multipart/form-data; boundary=b\r\n'
