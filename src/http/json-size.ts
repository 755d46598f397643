/**
 * Tells what JSON would cost before it is parsed: three bytes of it can be a value that takes a
 * hundred in memory.
 * @module
 */

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const OPEN_BRACE = 0x7b

/**
 * Whether JSON holds more than `most` values, nested ones included; empty lists and objects count
 * as two. It may say so of what is no JSON, too.
 */
export function hasMoreValues(json: Uint8Array, most: number): boolean {
  let values = 1
  let isText = false
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (isText) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) {
      isText = true
    } else if (byte === COMMA || byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      values++
      if (values > most) return true
    }
  }
  return false
}
