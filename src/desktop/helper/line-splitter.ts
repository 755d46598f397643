/**
 * Cuts a stream of bytes into lines, which end with LF or CRLF. Lines that are too long are
 * refused, and dropped as they come, so that no writer can fill the memory. Bytes after the last
 * line end are no line yet.
 * @module
 */

import { GrowingBuffer } from '../../lib/growing-buffer.ts'

/** The bound of lines, and who gets them. */
export interface LineSplitterOptions {
  /** Longest line, without its end. */
  readonly maxLineBytes: number
  /** The bytes are valid until it returns. */
  readonly onLine: (line: Uint8Array) => void
  /** A line was too long; called once for each, when it passes the limit. */
  readonly onRefused: () => void
}

const LF = 0x0a
const CR = 0x0d

/** A stream that is cut. */
export class LineSplitter {
  readonly #options: LineSplitterOptions
  #begun: GrowingBuffer | undefined
  #isSkipping = false

  constructor(options: LineSplitterOptions) {
    this.#options = options
  }

  push(chunk: Uint8Array): void {
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#finish(chunk.subarray(start, end))
      start = end + 1
    }
    this.#keep(chunk.subarray(start))
  }

  #finish(part: Uint8Array): void {
    const whole = this.#begun === undefined ? part : this.#join(part)
    const wasSkipping = this.#isSkipping
    this.#begun = undefined
    this.#isSkipping = false
    if (wasSkipping) return
    const line = whole.at(-1) === CR ? whole.subarray(0, -1) : whole
    if (line.length > this.#options.maxLineBytes) this.#options.onRefused()
    else this.#options.onLine(line)
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0 || this.#isSkipping) return
    const { length } = this.#join(part)
    // One byte more than a line may have could be the CR of its end.
    if (length <= this.#options.maxLineBytes + 1) return
    this.#begun = undefined
    this.#isSkipping = true
    this.#options.onRefused()
  }

  /** Joins `part` to what came of the line before. */
  #join(part: Uint8Array): Uint8Array {
    this.#begun ??= new GrowingBuffer()
    this.#begun.append(part)
    return this.#begun.filled
  }
}
