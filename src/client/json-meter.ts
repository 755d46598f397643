/**
 * Measures JSON while it comes, so that what would cost too much is never parsed: an escape spells
 * one character in up to six bytes, and three bytes can be a value that takes a hundred in memory.
 *
 * @module
 */

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const OPEN_BRACKET = 0x5b
const OPEN_BRACE = 0x7b

/** Takes the bytes of one text of JSON, cut anywhere. What is no JSON is measured somehow. */
export class JsonMeter {
  /** Bytes so far, each escape as one. */
  size = 0
  /** Values so far, nested ones included; empty lists and objects count as two. */
  values = 1
  #isText = false
  #isEscape = false
  /** Hex digits of an escape that are still to come. */
  #digits = 0

  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#digits > 0) {
        this.#digits -= 1
        at += 1
      } else if (this.#isEscape) {
        this.#isEscape = false
        if (bytes[at] === LETTER_U) this.#digits = 4
        at += 1
      } else {
        at = this.#isText ? this.#addText(bytes, at) : this.#addOther(bytes, at)
      }
    }
  }

  /** @returns Where the text, or the part of it that has no escapes, ends. */
  #addText(bytes: Uint8Array, start: number): number {
    let at = start
    for (; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte !== BACKSLASH && byte !== QUOTE) continue
      this.#isEscape = byte === BACKSLASH
      this.#isText = byte === BACKSLASH
      at += 1
      break
    }
    this.size += at - start
    return at
  }

  /** @returns Where a text begins. */
  #addOther(bytes: Uint8Array, start: number): number {
    let at = start
    for (; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte === COMMA || byte === OPEN_BRACKET || byte === OPEN_BRACE) this.values += 1
      if (byte !== QUOTE) continue
      this.#isText = true
      at += 1
      break
    }
    this.size += at - start
    return at
  }
}
