/**
 * Base64url without padding (RFC 4648, 5) of UTF-8 text.
 *
 * `atob` is native and fast but forgiving: it takes blanks, padding and the other alphabet, and
 * drops bits that are left over. So what does not come back as it was is refused here, and one
 * text has one encoding.
 * @module
 */

const ASCII_ONLY = /^[\0-\x7f]*$/

// With `ignoreBOM` a byte order mark is a character of the text, so that it is not lost unseen.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Wiped after use. A new array for each text would cost more than the rest of the decoding. */
const scratch = new Uint8Array(1024)

/** Encodes well-formed text; lone surrogates would become U+FFFD. */
export function encodeBase64url(text: string): string {
  return encodeBytes(ASCII_ONLY.test(text) ? text : encodeUtf8(text))
}

/** Decodes to text; `undefined` when `encoded` is not the encoding of a text. */
export function decodeBase64url(encoded: string): string | undefined {
  try {
    const binary = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'))
    if (encodeBytes(binary) !== encoded) return undefined
    return ASCII_ONLY.test(binary) ? binary : decodeUtf8(binary)
  } catch {
    // Not base64 or not UTF-8; the errors say no more than that.
    return undefined
  }
}

/** Bytes are a string with one character for each, as `btoa` and `atob` want them. */
function encodeBytes(binary: string): string {
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** The value of an `Authorization` header: RFC 7617, with UTF-8. */
export function basicAuthorization(username: string, password: string): string {
  return `Basic ${btoa(encodeUtf8(`${username}:${password}`))}`
}

/** Encodes well-formed text as UTF-8, in a string with one character for each byte. */
function encodeUtf8(text: string): string {
  let binary = ''
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte)
  return binary
}

function decodeUtf8(binary: string): string {
  const { length } = binary
  const bytes = length <= scratch.length ? scratch.subarray(0, length) : new Uint8Array(length)
  for (let at = 0; at < length; at++) bytes[at] = binary.charCodeAt(at)
  try {
    return decoder.decode(bytes)
  } finally {
    bytes.fill(0)
  }
}
