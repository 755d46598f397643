/**
 * Refuses the bodies that no handler would take, before their first byte.
 *
 * @module
 */

import type { IncomingMessage } from 'node:http'
import { EXPECTS_CONTINUE } from './exchange.ts'
import { HttpError } from './http-error.ts'

/** @param maxBody The most bytes that the route takes; 0 when it takes no body. */
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
