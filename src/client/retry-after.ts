/**
 * Reads how long a server asks to be left alone (RFC 9110, 10.2.3).
 *
 * @module
 */

/** Milliseconds; `undefined` when it does not say. */
export function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('Retry-After') ?? ''
  if (/^\d+$/.test(value)) return Number(value) * 1000
  // Date.parse() makes dates of much else.
  const until = /^[A-Z][a-z]{2}, .* GMT$/.test(value) ? Date.parse(value) : NaN
  return Number.isNaN(until) ? undefined : Math.max(0, until - Date.now())
}
