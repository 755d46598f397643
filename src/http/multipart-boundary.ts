/**
 * The boundary that a `Content-Type` header announces: RFC 7578 section 4.1, RFC 2046 section
 * 5.1.1.
 *
 * Refuses what could not be told apart from something else, and boundaries given twice.
 * @module
 */

import { parseParameters } from './header-parameters.ts'
import { HttpError } from './http-error.ts'

const MAX_BOUNDARY_LENGTH = 70

// The alphabet of RFC 2046, and the rest of what HTTP calls a token: `*****` was in the sample
// that half of the Android uploads were copied from. Not a blank at the end, which a relay may
// have added or removed.
const BOUNDARY = /^[A-Za-z0-9'()+_,./:=?!#$%&*^`|~ -]*[A-Za-z0-9'()+_,./:=?!#$%&*^`|~-]$/

/**
 * Reads the boundary.
 *
 * @throws {HttpError} `MULTIPART_BOUNDARY` when the type is another one, or the boundary is
 *   missing, empty, longer than 70 characters or malformed.
 */
export function parseBoundary(contentType: string): string {
  const parsed = parseParameters(contentType)
  if (parsed === undefined) throw refusal('the parameters are malformed')
  if (parsed.value !== 'multipart/form-data') throw refusal('the type is not multipart/form-data')
  const boundary = parsed.parameters.get('boundary')?.text ?? ''
  if (boundary === '') throw refusal('there is none')
  if (boundary.length > MAX_BOUNDARY_LENGTH) {
    throw refusal(`at most ${MAX_BOUNDARY_LENGTH} characters`)
  }
  if (!BOUNDARY.test(boundary)) throw refusal('it has characters that no boundary may have')
  return boundary
}

function refusal(detail: string): HttpError {
  return new HttpError('MULTIPART_BOUNDARY', { detail })
}
