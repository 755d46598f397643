/** The header fields that the kernel adds to a reply. @module */

import type { FlatHeaders, Reply, WholeReply } from './reply.ts'

const COMMON: FlatHeaders = [
  'X-Content-Type-Options',
  'nosniff',
  // Else a page of another site shows what its browser loads with a login that it remembers.
  'Cross-Origin-Resource-Policy',
  'same-origin',
]

/** Nobody may keep what somebody copied, neither proxies nor browser caches. */
const NOT_STORED: FlatHeaders = [...COMMON, 'Cache-Control', 'no-store']

const NO_HEADERS: FlatHeaders = []

/**
 * All header fields of a reply.
 *
 * @param length Bytes of body; `undefined` where there is no `Content-Length`.
 */
export function allHeaders(
  { headers = NO_HEADERS, etag, lastModified }: Reply,
  length: number | undefined,
  more: FlatHeaders = NO_HEADERS,
): string[] {
  const all = [...(hasCacheControl(headers) ? COMMON : NOT_STORED), ...headers, ...more]
  if (etag !== undefined) all.push('ETag', etag)
  if (lastModified !== undefined) all.push('Last-Modified', new Date(lastModified).toUTCString())
  if (length !== undefined) all.push('Content-Length', String(length))
  return all
}

const constants = new WeakMap<Reply, string[]>()

/**
 * Makes a reply that is sent over and over cheaper to send. A copy of it is a reply like any other.
 *
 * @param reply Nobody may change it any more.
 */
export function constantReply(reply: WholeReply): Reply {
  constants.set(reply, allHeaders(reply, lengthOf(reply.status, reply.body)))
  return reply
}

/** All header fields of a reply that is not a stream. */
export function wholeHeaders(reply: WholeReply): string[] {
  return constants.get(reply) ?? allHeaders(reply, lengthOf(reply.status, reply.body))
}

/** `undefined` where there is no `Content-Length`. */
function lengthOf(status: number, body: WholeReply['body']): number | undefined {
  if (typeof body === 'string') return Buffer.byteLength(body)
  if (body !== undefined) return body.length
  return status === 204 ? undefined : 0
}

/** A 304 describes no content of its own: RFC 9110 section 15.4.5. */
export function withoutContentHeaders(headers: FlatHeaders = NO_HEADERS): FlatHeaders {
  const kept: string[] = []
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? ''
    if (!/^content-/i.test(name)) kept.push(name, headers[index + 1] ?? '')
  }
  return kept
}

function hasCacheControl(headers: FlatHeaders): boolean {
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index]
    if (name?.length === 13 && name.toLowerCase() === 'cache-control') return true
  }
  return false
}
