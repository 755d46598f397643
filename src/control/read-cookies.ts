/**
 * Reads the `Cookie` header: RFC 6265, section 4.2.1.
 *
 * The browser sends what every server on this address has set, whatever its port: there may be much
 * that is not ours, and something that only looks like it.
 *
 * @module
 */

/** More than browsers send; Node bounds all headers together too. */
const MAX_HEADER_LENGTH = 16_384

/** How many cookies of one name are looked at. */
const MAX_SAME_NAME = 8

/** The values of all cookies that are called exactly `name`, in the order in which they came. */
export function readCookies(header: string | undefined, name: string): readonly string[] {
  if (header === undefined || header.length > MAX_HEADER_LENGTH) return []
  const prefix = `${name}=`
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
    .slice(0, MAX_SAME_NAME)
    .map((pair) => pair.slice(prefix.length))
}
