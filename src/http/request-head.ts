/**
 * The head of a request as Node's parser lets it through: its fields, its target, and the faults
 * that the parser does not see, by RFC 9112 sections 2.3, 3.2 and 6.1 and by bounds of our own.
 *
 * Fields are read as they came, before Node makes an object of them: most requests are polls whose
 * few fields decide nothing, and never need that object. A head that two readers could understand
 * in two ways ends its connection: nobody can tell where the next request begins. Dot segments are
 * not resolved: to us they are names like any other, and no resource has them.
 * @module
 */

import type { IncomingMessage } from 'node:http'
import type { FlatHeaders } from './reply.ts'
import { HttpError } from './http-error.ts'

/** Fields that decide whether there is a body, what it is, and what becomes of the connection. */
const DECISIVE = /^(?:content-(?:encoding|length|range)|expect|if-.*|transfer-encoding|upgrade)$/i

/** Whether a request says more of itself than its target: it has such a field, or a condition. */
export function hasDecisiveFields(fields: FlatHeaders): boolean {
  for (let index = 0; index < fields.length; index += 2) {
    if (DECISIVE.test(fields[index] ?? '')) return true
  }
  return false
}

/** The value of the first field of a name, which is given in lower case. */
export function findField(fields: FlatHeaders, name: string): string | undefined {
  for (let index = 0; index < fields.length; index += 2) {
    const other = fields[index]
    if (other?.length === name.length && other.toLowerCase() === name) return fields[index + 1]
  }
  return undefined
}

/** How many fields have a name, which is given in lower case. */
export function countFields(fields: FlatHeaders, name: string): number {
  let count = 0
  for (let index = 0; index < fields.length; index += 2) {
    const other = fields[index]
    if (other?.length === name.length && other.toLowerCase() === name) count += 1
  }
  return count
}

/** Whether a browser says from which page a request comes: programs say nothing. */
export function comesFromPage({ rawHeaders }: IncomingMessage): boolean {
  return ['origin', 'sec-fetch-site'].some((name) => findField(rawHeaders, name) !== undefined)
}

/**
 * Node counts the bytes of header fields without what separates them, so that 16 KiB hold 10,000
 * of them, and drops those behind the 2000th silently, `Authorization` among them. Clients send
 * twenty, proxies add ten.
 */
const MAX_HEADER_FIELDS = 256

/** The one expectation that there is. */
export const EXPECTS_CONTINUE: RegExp = /^100-continue$/i

/** Room for the longest name with each byte percent-encoded, ten times over. */
const MAX_TARGET_LENGTH = 8192

/**
 * The fault of a request that two readers could understand in two ways, if it has one.
 *
 * @param isDecisive Whether it has fields that {@link hasDecisiveFields} finds.
 */
export function findFramingFault(
  request: IncomingMessage,
  isDecisive: boolean,
): HttpError | undefined {
  const { httpVersion, rawHeaders, url = '' } = request
  const isOld = httpVersion === '1.0'
  if (httpVersion !== '1.1' && !isOld) return new HttpError('VERSION_UNSUPPORTED')
  if (rawHeaders.length > 2 * MAX_HEADER_FIELDS) {
    return new HttpError('HEADERS_TOO_LARGE', `at most ${MAX_HEADER_FIELDS} fields`)
  }
  if (url.length > MAX_TARGET_LENGTH) {
    return new HttpError('TARGET_TOO_LONG', `at most ${MAX_TARGET_LENGTH} characters`)
  }
  const coding = isDecisive ? request.headers['transfer-encoding'] : undefined
  if (coding !== undefined && (isOld || coding.toLowerCase() !== 'chunked')) {
    return new HttpError('TRANSFER_CODING_UNSUPPORTED')
  }
  return findHostFault(rawHeaders, isOld)
}

/**
 * Refuses a body that no handler would take, before its first byte.
 *
 * @param maxBody The most bytes that the route takes; 0 when it takes no body.
 * @throws {HttpError} `UNSUPPORTED_ENCODING`, `EXPECTATION_FAILED`, `PARTIAL_BODY`,
 *   `BODY_TOO_LARGE`.
 */
export function refuseBody(request: IncomingMessage, maxBody: number): void {
  const { headers, httpVersionMinor, method } = request
  const { expect, 'content-encoding': encoding, 'content-range': part } = headers
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new HttpError('UNSUPPORTED_ENCODING')
  }
  if (expect !== undefined && httpVersionMinor > 0 && !EXPECTS_CONTINUE.test(expect)) {
    throw new HttpError('EXPECTATION_FAILED')
  }
  // RFC 9110 section 14.5: whoever takes no parts must not take one for the whole.
  if (maxBody > 0 && method === 'PUT' && part !== undefined) throw new HttpError('PARTIAL_BODY')
  // A route that takes no body leaves it alone, whatever its length.
  if (maxBody > 0 && Number(headers['content-length'] ?? 0) > maxBody) {
    throw new HttpError('BODY_TOO_LARGE', `at most ${maxBody} bytes`)
  }
}

function findHostFault(rawHeaders: readonly string[], isOld: boolean): HttpError | undefined {
  const host = findField(rawHeaders, 'host')
  if (host === undefined) {
    // HTTP/1.0 had no `Host` yet.
    return isOld ? undefined : badRequest('the Host header is missing')
  }
  if (!isAuthority(host)) return badRequest('the Host header is malformed')
  // Node takes the first of several, and leaves no trace of the others.
  return countFields(rawHeaders, 'host') > 1 ? badRequest('more than one Host header') : undefined
}

function badRequest(detail: string): HttpError {
  return new HttpError('BAD_REQUEST', detail)
}

/** A request target, taken apart once. */
export interface Target {
  /** Normalised, still percent-encoded. That of a target without sense cannot be decoded. */
  readonly path: string
  /** The text behind the first `?`, without it. */
  readonly search: string
  /** The authority of an absolute target; it counts instead of the `Host` header. */
  readonly authority: string | undefined
}

// The parser of Node lets nothing but printable ASCII through.
const ABSOLUTE = /^https?:\/\/([^/?]*)/i

const AUTHORITY = /^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+(?:%[A-Za-z0-9._~%-]+)?\])(?::\d{0,5})?$/

const MALFORMED: Target = { path: '/%', search: '', authority: undefined }

/** Whether `text` is `host` or `host:port`: no list, no user, no path. */
export function isAuthority(text: string): boolean {
  return AUTHORITY.test(text)
}

/** Takes a request target apart: RFC 9112 section 3.2. Never throws. */
export function parseTarget(method: string, target: string): Target {
  // A fragment never leaves a client that works; cut off silently, it would rename an upload.
  if (target.includes('#')) return MALFORMED
  if (target === '*') return method === 'OPTIONS' ? { ...MALFORMED, path: '/' } : MALFORMED
  if (target.startsWith('/')) return splitPath(target, undefined)
  const [scheme, authority] = ABSOLUTE.exec(target) ?? []
  if (scheme === undefined || authority === undefined || !isAuthority(authority)) return MALFORMED
  return splitPath(target.slice(scheme.length), authority)
}

/**
 * Takes a normalised path apart. Split *before* decoding, so that an encoded slash stays part of
 * its segment.
 *
 * @returns `undefined` when the percent-encoding is malformed, or not UTF-8.
 */
export function decodeSegments(path: string): readonly string[] | undefined {
  const segments = path.slice(1).split('/')
  if (!path.includes('%')) return segments
  try {
    return segments.map(decodeURIComponent)
  } catch {
    // A URIError, which knows nothing that we do not know already.
    return undefined
  }
}

function splitPath(target: string, authority: string | undefined): Target {
  const question = target.indexOf('?')
  const rawPath = question === -1 ? target : target.slice(0, question)
  const search = question === -1 ? '' : target.slice(question + 1)
  return { path: normalisePath(rawPath), search, authority }
}

/** `//Sync.json` and `/file/` occur in the wild. */
function normalisePath(rawPath: string): string {
  const path = rawPath.replace(/\/{2,}/g, '/')
  if (path.length > 1 && path.endsWith('/')) return path.slice(0, -1)
  return path === '' ? '/' : path
}
