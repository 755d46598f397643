/** How long a text is in UTF-8, plain and in JSON, and no longer. @module */

/** @param most Bytes of UTF-8. */
export function isLongerThan(text: string, most: number): boolean {
  // A unit of UTF-16 becomes one to three bytes.
  if (text.length > most) return true
  return text.length * 3 > most && new TextEncoder().encode(text).length > most
}

/** The escape of a control character: no byte of UTF-8 takes more in JSON. */
export const MOST_JSON_BYTES = 6

/** Bytes that each byte of UTF-8 becomes in JSON. */
const JSON_BYTES: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x80 ? JSON.stringify(String.fromCharCode(byte)).length - 2 : 1,
)

/** Bytes that a text takes in JSON, without the quotes. @param utf8 The text, or a part of it. */
export function jsonLengthOf(utf8: Uint8Array): number {
  let length = 0
  for (let index = 0; index < utf8.length; index++) length += JSON_BYTES[utf8[index] ?? 0] ?? 0
  return length
}

/** As much of the beginning of a text as fits, in whole characters. @param most Bytes of UTF-8. */
export function cutText(text: string, most: number): string {
  if (!isLongerThan(text, most)) return text
  const bytes = new Uint8Array(most)
  const { written } = new TextEncoder().encodeInto(text, bytes)
  // A slice of the string would keep all of it in memory.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, written))
}
