/**
 * Puts chunks together, by copying them: a list of chunks of one byte would cost a hundred times
 * its size.
 *
 * @module
 */

/** First size for bytes of unknown length; it grows as bytes come. */
const FIRST_BYTES: number = 64 * 1024

export class GrowingBuffer {
  #buffer = Buffer.allocUnsafe(FIRST_BYTES)
  #size = 0

  get filled(): Uint8Array {
    return this.#buffer.subarray(0, this.#size)
  }

  append(chunk: Uint8Array): void {
    const size = this.#size + chunk.length
    if (size > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(2 * size)
      larger.set(this.filled)
      this.#buffer = larger
    }
    this.#buffer.set(chunk, this.#size)
    this.#size = size
  }
}
