/** Joins chunks by copying: a list of single bytes would cost a hundred times its size. @module */

/** The first size, unless another one is asked for; it doubles when the bytes do not fit. */
const FIRST_BYTES: number = 64 * 1024

/** All bytes appended so far, in one piece of memory. */
export class GrowingBuffer {
  #buffer: Uint8Array
  #size = 0
  readonly #most: number

  /**
   * @param firstBytes Memory that is taken at once.
   * @param most Bytes that there may be, which are taken when the first do not suffice: it is no
   *   memory before something is written to it.
   */
  constructor(firstBytes: number = FIRST_BYTES, most: number = 0) {
    this.#most = most
    this.#buffer = new Uint8Array(firstBytes)
  }

  /** The bytes appended so far; valid until the next `append`. */
  get filled(): Uint8Array {
    return this.#buffer.subarray(0, this.#size)
  }

  /** Copies `chunk` behind the bytes that are there. */
  append(chunk: Uint8Array): void {
    const size = this.#size + chunk.length
    if (size > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(2 * size, this.#most))
      larger.set(this.filled)
      this.#buffer = larger
    }
    this.#buffer.set(chunk, this.#size)
    this.#size = size
  }
}
