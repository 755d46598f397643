/**
 * `Content-Disposition` for files that a browser is to save and never to show: RFC 6266, RFC 8187.
 * @module
 */

/** A character that RFC 8187 does not encode. */
const ATTR_CHAR = /[A-Za-z0-9!#$&+.^_`|~-]/

/**
 * The value of the header. Any name gives one header: nothing of it can break out.
 *
 * @example
 * ```ts
 * attachment('Übersicht.pdf')
 * // attachment; filename="_bersicht.pdf"; filename*=UTF-8''%C3%9Cbersicht.pdf
 * ```
 */
export function attachment(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["%\\]/gu, '_')
  const quoted = `attachment; filename="${plain}"`
  return plain === name ? quoted : `${quoted}; filename*=UTF-8''${encodeExtended(name)}`
}

function encodeExtended(name: string): string {
  let encoded = ''
  for (const byte of new TextEncoder().encode(name)) {
    const char = String.fromCharCode(byte)
    encoded += ATTR_CHAR.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return encoded
}
