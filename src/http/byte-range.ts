/**
 * `Range` headers: RFC 9110 section 14. One range of bytes, or the whole.
 *
 * A header that is malformed or asks for several ranges is ignored, as the RFC allows: nobody gets
 * more than the bytes once.
 * @module
 */

/** A part of a resource. */
export interface ByteRange {
  readonly start: number
  /** Behind the last byte. */
  readonly end: number
}

// Digits are bounded, so that `Number` stays in bounds and the match is linear.
const SINGLE_RANGE = /^bytes=(\d{0,20})-(\d{0,20})$/i

/**
 * Parses a `Range` header against a resource of `size` bytes.
 *
 * @returns `undefined` when the header does not count.
 */
export function parseRange(header: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [whole, first, last] = SINGLE_RANGE.exec(header) ?? []
  if (whole === undefined || first === undefined || last === undefined) return undefined
  if (first === '') return parseSuffix(last, size)
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= size) return 'unsatisfiable'
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) }
}

/** A range of the last N bytes. */
function parseSuffix(digits: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  if (digits === '') return undefined
  const length = Number(digits)
  if (length === 0) return 'unsatisfiable'
  // The end of nothing is nothing, and 206 has no way to say so.
  if (size === 0) return undefined
  return { start: Math.max(0, size - length), end: size }
}
