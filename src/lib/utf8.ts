/** Strict UTF-8, latin1, and JSON. No error quotes what was read: it may be a secret. @module */

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes UTF-8, a byte order mark included. @throws {TypeError} when the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    throw new TypeError('it is not UTF-8')
  }
}

/**
 * Decodes latin1, which any bytes are: one character for each. `TextDecoder` takes that name for
 * Windows-1252.
 */
export function decodeLatin1({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1')
}

/** The text without the byte order mark that programs of some platforms begin a file with. */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** Parses JSON text, or JSON in UTF-8. @throws {TypeError} when it is neither. */
export function parseJson(json: string | Uint8Array): unknown {
  const text = typeof json === 'string' ? json : decodeUtf8(json)
  try {
    return JSON.parse(text)
  } catch {
    throw new TypeError('it is not JSON')
  }
}
