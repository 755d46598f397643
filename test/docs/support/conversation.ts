/**
 * What the checks of the tables say over and over.
 * @module
 */

import assert from 'node:assert/strict'
import { codeIn } from './answer-check.ts'
import { readStream, type OpenStream } from './read-stream.ts'
import type { Answer, Station } from './station.ts'

export const EMPTY_DOCUMENT = {
  type: 'Text',
  text: '',
  hasData: false,
  size: 0,
  hash: '',
  dataName: '',
}

export const PNG: Buffer = Buffer.from('\x89PNG\r\n\x1a\n and so on', 'latin1')

export function put(
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): RequestInit {
  return { method: 'PUT', body, headers: { ...headers } }
}

/** Shows that an endpoint is there, and for devices only. */
export async function assertProtected(
  { ask }: Station,
  method: string,
  target: string,
): Promise<void> {
  const stranger = await ask({ method, target, isAnonymous: true })
  assert.equal(stranger.status, 401, `${method} ${target} without credentials`)
  assert.match(stranger.headers['www-authenticate'] ?? '', /^Basic /)
}

/** Shows what the current item is: a text. */
export async function assertText({ phone }: Station, text: string): Promise<void> {
  assert.equal((await phone.document())['text'], text)
}

/** Announces a body of this length, and waits for leave to send it. */
export function declare(
  { ask }: Station,
  bytes: number,
  method = 'PUT',
  target = '/file/a',
  type = 'a/b',
): Promise<Answer> {
  const fields = [`Content-Length: ${bytes}`, 'Expect: 100-continue', `Content-Type: ${type}`]
  return ask({ method, target, fields })
}

/** Shows that a body of this length is welcome, and one byte more is not. */
export async function assertLargest(
  at: Station,
  bytes: number,
  ...where: readonly [method: string, target: string, type: string]
): Promise<void> {
  assert.equal((await declare(at, bytes, ...where)).status, 100)
  const refused = await declare(at, bytes + 1, ...where)
  assert.deepEqual([refused.status, codeIn(refused)], [413, 'BODY_TOO_LARGE'])
}

/** Opens an event stream, and reads its hello. */
export async function openEvents(at: Station): Promise<OpenStream> {
  const stream = await readStream(at, '/api/sse/clipboard')
  await stream.untilEvent('hello')
  return stream
}

/** The headers that tell of the resource, not of the connection and the moment. */
export function ownHeaders({ headers }: Response): readonly (readonly [string, string])[] {
  return [...headers].filter(([name]) => !['connection', 'date', 'keep-alive'].includes(name))
}
