/**
 * Collects the header of a part: everything up to its first empty line.
 * @module
 */

import { HttpError } from './http-error.ts'

const CR = 0x0d
const LF = 0x0a

type Line = 'empty' | 'carriageReturn' | 'filled'

export class HeaderBlock {
  readonly #maxBytes: number
  /** Holds what came with earlier chunks; most headers come in one. */
  #kept: Uint8Array | undefined = undefined
  #keptSize = 0
  /** The bytes that the current line has so far. */
  #line: Line = 'empty'

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /**
   * Reads on in `chunk`.
   *
   * @returns Where the header ends, the empty line included; -1 when it goes on behind the chunk.
   * @throws {HttpError} `PART_HEADER_TOO_LARGE`.
   */
  findEnd(chunk: Uint8Array, start: number): number {
    const end = Math.min(chunk.length, start + this.#maxBytes - this.#keptSize)
    for (let at = start; at < end; at++) {
      const byte = chunk[at]
      if (byte === LF) {
        if (this.#line === 'carriageReturn') return at + 1
        this.#line = 'empty'
      } else {
        this.#line = byte === CR && this.#line === 'empty' ? 'carriageReturn' : 'filled'
      }
    }
    if (end === chunk.length) return -1
    throw new HttpError('PART_HEADER_TOO_LARGE', { detail: `at most ${this.#maxBytes} bytes` })
  }

  /** Keeps a piece of the header, which goes on behind it. */
  keep(piece: Uint8Array): void {
    this.#kept ??= new Uint8Array(this.#maxBytes)
    this.#kept.set(piece, this.#keptSize)
    this.#keptSize += piece.length
  }

  /** The whole header, which ends with this piece; valid until more is kept. */
  finish(piece: Uint8Array): Uint8Array {
    const isWhole = this.#keptSize === 0
    if (!isWhole) this.keep(piece)
    const block = this.#kept?.subarray(0, this.#keptSize)
    this.#keptSize = 0
    this.#line = 'empty'
    return isWhole || block === undefined ? piece : block
  }
}
