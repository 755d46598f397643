/**
 * ISO Latin-1, the encoding of the X type `STRING`.
 * @module
 */

/** Whether every character of `text` exists in Latin-1. */
export function isLatin1(text: string): boolean {
  return !/[^\0-\xff]/.test(text)
}

/** One byte for each character; only for what {@link isLatin1} allows. */
export function encodeLatin1(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

/** Any bytes are valid. Not `TextDecoder`, whose `latin1` is Windows-1252. */
export function decodeLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}
