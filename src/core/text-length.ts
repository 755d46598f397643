/** How long a text is in UTF-8, and no longer. @module */

/** @param most Bytes of UTF-8. */
export function isLongerThan(text: string, most: number): boolean {
  // A unit of UTF-16 becomes one to three bytes.
  if (text.length > most) return true
  return text.length * 3 > most && new TextEncoder().encode(text).length > most
}

/** As much of the beginning of a text as fits, in whole characters. @param most Bytes of UTF-8. */
export function cutText(text: string, most: number): string {
  if (!isLongerThan(text, most)) return text
  const bytes = new Uint8Array(most)
  const { written } = new TextEncoder().encodeInto(text, bytes)
  // A slice of the string would keep all of it in memory.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, written))
}
