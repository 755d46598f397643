/**
 * Cuts a stream of bytes into rows.
 *
 * @module
 */

import { PictureError } from './picture.ts'

export class Rows {
  readonly #chunks: AsyncGenerator<Uint8Array>
  #chunk: Uint8Array = new Uint8Array()
  #position = 0

  constructor(chunks: AsyncGenerator<Uint8Array>) {
    this.#chunks = chunks
  }

  /**
   * Fills `row`.
   *
   * @throws {PictureError} `TRUNCATED` when there is not enough.
   */
  async fill(row: Uint8Array): Promise<void> {
    for (let filled = this.#take(row, 0); filled < row.length; ) {
      const { value, done } = await this.#chunks.next()
      if (done === true) throw new PictureError('TRUNCATED', 'it ends early')
      this.#chunk = value
      this.#position = 0
      filled = this.#take(row, filled)
    }
  }

  /** Fills `row` if that takes no waiting. */
  fillNow(row: Uint8Array): boolean {
    if (this.#chunk.length - this.#position < row.length) return false
    this.#take(row, 0)
    return true
  }

  async close(): Promise<void> {
    await this.#chunks.return(undefined)
  }

  #take(row: Uint8Array, filled: number): number {
    const count = Math.min(row.length - filled, this.#chunk.length - this.#position)
    row.set(this.#chunk.subarray(this.#position, this.#position + count), filled)
    this.#position += count
    return filled + count
  }
}
