/**
 * What clients send to `POST /api/history`, and what comes back.
 * @module
 */

import assert from 'node:assert/strict'
import { readObject, type Phone } from '../../support/phone.ts'

export type Fields = Readonly<Record<string, string>>

/** A field, or a file: field, file name, content. */
export type FormPart = readonly [string, string] | readonly [string, string, string | Uint8Array]

export const PNG: Buffer = Buffer.from('\x89PNG\r\n\x1a\n and so on', 'latin1')

/** What the clients of the reference protocol call themselves. */
export const REFERENCE: Fields = { 'user-agent': 'SyncClipboardAndroid/1.2' }

export function urlencoded(fields: Fields, headers: Fields = {}): RequestInit {
  return { method: 'POST', body: new URLSearchParams(fields), headers }
}

export function form(parts: readonly FormPart[], headers: Fields = {}): RequestInit {
  const body = new FormData()
  for (const [field, value, content] of parts) {
    if (content === undefined) body.append(field, value)
    else body.append(field, new Blob([content]), value)
  }
  return { method: 'POST', body, headers }
}

/** A form of parts as they go over the wire, in latin1. */
export function rawForm(...parts: readonly string[]): RequestInit {
  const body = parts.map((part) => `--b\r\n${part}\r\n`).join('') + '--b--\r\n'
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  return { method: 'POST', body: Buffer.from(body, 'latin1'), headers }
}

/** A part for {@link rawForm}. `more` is what its header has behind the name. */
export function part(name: string, content: string, more = ''): string {
  return `Content-Disposition: form-data; name="${name}"${more}\r\n\r\n${content}`
}

/** Posts a form that must be taken, and returns the record. */
export async function post(phone: Phone, init: RequestInit): Promise<Record<string, unknown>> {
  const response = await phone.fetch('/api/history', init)
  const answer = await readObject(response)
  assert.equal(response.status, 200, String(answer['code']))
  assert.equal(response.headers.get('content-type'), 'application/json')
  return answer
}

/** Posts a form that must be refused: status and code. */
export async function refusal(phone: Phone, init: RequestInit): Promise<readonly unknown[]> {
  const response = await phone.fetch('/api/history', init)
  return [response.status, (await readObject(response))['code']]
}

export function put(body: string, headers: Fields = {}): RequestInit {
  return { method: 'PUT', body, headers }
}
