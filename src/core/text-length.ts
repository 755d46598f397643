/** Whether a text is longer than it may be. @module */

/** @param most Bytes of UTF-8. */
export function isLongerThan(text: string, most: number): boolean {
  // A unit of UTF-16 becomes one to three bytes.
  if (text.length > most) return true
  return text.length * 3 > most && new TextEncoder().encode(text).length > most
}
