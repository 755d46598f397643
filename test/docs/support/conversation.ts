/**
 * What the checks of the tables say over and over.
 *
 * @module
 */

import assert from 'node:assert/strict'
import type { Station } from './station.ts'

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

/** The headers that tell of the resource, not of the connection and the moment. */
export function ownHeaders({ headers }: Response): readonly (readonly [string, string])[] {
  return [...headers].filter(([name]) => !['connection', 'date', 'keep-alive'].includes(name))
}
