/**
 * The header fields that the kernel adds to a reply.
 *
 * @module
 */

import type { FlatHeaders, Reply } from './reply.ts'

const COMMON: FlatHeaders = ['X-Content-Type-Options', 'nosniff']

/** What somebody copied is nobody else's business, proxies and browser caches included. */
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
