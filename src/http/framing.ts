/**
 * Finds requests that Node's parser lets through although two readers could understand them in two
 * ways: RFC 9112
 * sections 2.3, 3.2, 6.1, and bounds that it does not know.
 *
 * Whatever has such a fault ends its connection: nobody can tell where the next request begins.
 * @module
 */

import type { IncomingMessage } from 'node:http'
import { EXPECTS_CONTINUE } from './exchange.ts'
import { HttpError } from './http-error.ts'
import { countFields, findField } from './raw-fields.ts'
import { isAuthority } from './target.ts'

/**
 * Node counts the bytes of header fields without what separates them, so that 16 KiB hold 10,000
 * of them, and drops those behind the 2000th silently, `Authorization` among them. Clients send
 * twenty, proxies add ten.
 */
const MAX_HEADER_FIELDS = 256

/** Room for the longest name with each byte percent-encoded, ten times over. */
const MAX_TARGET_LENGTH = 8192

/**
 * The fault of a request, if it has one.
 *
 * @param isDecisive Whether it has fields of the kind of `Transfer-Encoding`; see `raw-fields.ts`.
 */
export function findFramingFault(
  request: IncomingMessage,
  isDecisive: boolean,
): HttpError | undefined {
  const { httpVersion, rawHeaders, url = '' } = request
  const isOld = httpVersion === '1.0'
  if (httpVersion !== '1.1' && !isOld) return new HttpError('VERSION_UNSUPPORTED')
  if (rawHeaders.length > 2 * MAX_HEADER_FIELDS) {
    return new HttpError('HEADERS_TOO_LARGE', { detail: `at most ${MAX_HEADER_FIELDS} fields` })
  }
  if (url.length > MAX_TARGET_LENGTH) {
    return new HttpError('TARGET_TOO_LONG', { detail: `at most ${MAX_TARGET_LENGTH} characters` })
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
    throw new HttpError('BODY_TOO_LARGE', { detail: `at most ${maxBody} bytes` })
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
  return new HttpError('BAD_REQUEST', { detail })
}
