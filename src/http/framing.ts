/**
 * What Node's parser lets through although two readers could understand it in two ways: RFC 9112
 * sections 2.3, 3.2, 6.1, and bounds that it does not know.
 *
 * Whatever has such a fault ends its connection: nobody can tell where the next request begins.
 *
 * @module
 */

import type { IncomingMessage } from 'node:http'
import { HttpError } from './http-error.ts'
import { isAuthority } from './target.ts'

/**
 * Node counts the bytes of header fields without what separates them, so that 16 KiB hold 10,000
 * of them, and drops those behind the 2000th silently, `Authorization` among them. Clients send
 * twenty, proxies add ten.
 */
const MAX_HEADER_FIELDS = 256

/** Room for the longest name with each byte percent-encoded, ten times over. */
const MAX_TARGET_LENGTH = 8192

/** The fault of a request, if it has one. */
export function findFramingFault(request: IncomingMessage): HttpError | undefined {
  const { httpVersion, headers, rawHeaders, url = '' } = request
  const isOld = httpVersion === '1.0'
  if (httpVersion !== '1.1' && !isOld) return new HttpError('VERSION_UNSUPPORTED')
  if (rawHeaders.length > 2 * MAX_HEADER_FIELDS) {
    return new HttpError('HEADERS_TOO_LARGE', { detail: `at most ${MAX_HEADER_FIELDS} fields` })
  }
  if (url.length > MAX_TARGET_LENGTH) {
    return new HttpError('TARGET_TOO_LONG', { detail: `at most ${MAX_TARGET_LENGTH} characters` })
  }
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (isOld || coding.toLowerCase() !== 'chunked')) {
    return new HttpError('TRANSFER_CODING_UNSUPPORTED')
  }
  return findHostFault(headers.host, rawHeaders, isOld)
}

function findHostFault(
  host: string | undefined,
  rawHeaders: readonly string[],
  isOld: boolean,
): HttpError | undefined {
  if (host === undefined) {
    // HTTP/1.0 had no `Host` yet.
    return isOld ? undefined : badRequest('the Host header is missing')
  }
  if (!isAuthority(host)) return badRequest('the Host header is malformed')
  // `headers` has the first of several, and no trace of the others.
  return countHosts(rawHeaders) > 1 ? badRequest('more than one Host header') : undefined
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}

function badRequest(detail: string): HttpError {
  return new HttpError('BAD_REQUEST', { detail })
}
