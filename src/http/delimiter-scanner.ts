/**
 * Cuts chunks at the delimiters of a multipart body.
 *
 * Data is handed on as it lies in the chunk. Only a candidate that the end of a chunk cuts is kept,
 * and copied if it was data.
 *
 * @module
 */

import { DelimiterMatcher, type Delimiter, type Verdict } from './multipart-delimiter.ts'

/** Bytes of a delimiter that are its line end, which need not be there at the start of a body. */
const LINE_END_BYTES = 2

const NOTHING: Buffer = Buffer.alloc(0)

export class DelimiterScanner {
  #chunk: Buffer = NOTHING
  #at = 0
  readonly #matcher: DelimiterMatcher
  /** The bytes of the candidate that came with earlier chunks. */
  readonly #held: Uint8Array
  #heldSize = 0
  /** A candidate waits for its next byte. */
  #isCut = false
  /** Found behind the data that was handed on last. */
  #found: Delimiter | undefined = undefined

  constructor(boundary: string) {
    this.#matcher = new DelimiterMatcher(boundary)
    this.#held = new Uint8Array(this.#matcher.maxLength)
  }

  /** The chunk at hand. */
  get chunk(): Uint8Array {
    return this.#chunk
  }

  /** How far it was scanned or taken. */
  get at(): number {
    return this.#at
  }

  push(chunk: Uint8Array): void {
    if (this.#at < this.#chunk.length) throw new Error('Cannot push before the last chunk is read')
    this.#chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    this.#at = 0
  }

  /** Takes what is between delimiters and not to be scanned, up to `end`. */
  take(end: number): Uint8Array {
    const taken = this.#chunk.subarray(this.#at, end)
    this.#at = end
    return taken
  }

  /**
   * Begins at the start of a line, where a delimiter needs no line end of its own: the first one,
   * and that behind a header without a body.
   */
  beginLine(): void {
    this.#matcher.begin(LINE_END_BYTES)
    this.#isCut = true
  }

  /** The next of what the chunk holds; `undefined` when the rest depends on the next chunk. */
  next(): Uint8Array | Delimiter | undefined {
    const found = this.#found
    if (found !== undefined) {
      this.#found = undefined
      return found
    }
    if (this.#isCut) {
      const resumed = this.#resume()
      if (resumed !== undefined || this.#isCut) return resumed
    }
    return this.#scan()
  }

  /** As {@link next}, when no bytes follow: then nothing need follow the closing delimiter. */
  finish(): Uint8Array | Delimiter | undefined {
    const scanned = this.next()
    if (scanned !== undefined || !this.#isCut) return scanned
    this.#isCut = false
    return this.#matcher.isClosing ? 'close' : undefined
  }

  /** Goes on with the candidate of an earlier chunk. */
  #resume(): Uint8Array | Delimiter | undefined {
    const start = this.#at
    const verdict = this.#follow()
    if (verdict === 'undecided') {
      this.#hold(start)
      return undefined
    }
    this.#isCut = false
    const heldSize = this.#heldSize
    this.#heldSize = 0
    if (verdict !== 'data') return verdict
    // What fitted in this chunk is data as well, and not yet handed on.
    this.#at = start
    return heldSize === 0 ? undefined : this.#held.slice(0, heldSize)
  }

  #scan(): Uint8Array | Delimiter | undefined {
    const chunk = this.#chunk
    const start = this.#at
    for (;;) {
      const candidate = this.#findCandidate()
      if (candidate === -1) {
        this.#at = chunk.length
        return slice(chunk, start, chunk.length)
      }
      const verdict = this.#follow()
      if (verdict === 'data') continue
      const piece = slice(chunk, start, candidate)
      if (verdict === 'undecided') {
        this.#isCut = true
        this.#hold(candidate)
        return piece
      }
      if (piece === undefined) return verdict
      this.#found = verdict
      return piece
    }
  }

  /** @returns Where it begins; `at` is behind what is known of it. */
  #findCandidate(): number {
    const whole = this.#matcher.find(this.#chunk, this.#at)
    if (whole !== -1) {
      this.#at = whole + this.#matcher.length
      return whole
    }
    const cut = this.#matcher.findCut(this.#chunk, this.#at)
    if (cut !== -1) {
      this.#matcher.begin(0)
      this.#at = cut
    }
    return cut
  }

  /** Compares the bytes at hand. The byte that showed a candidate to be data is not passed. */
  #follow(): Verdict {
    while (this.#at < this.#chunk.length) {
      const verdict = this.#matcher.step(this.#chunk[this.#at] ?? 0)
      if (verdict === 'undecided') {
        this.#at++
        continue
      }
      if (verdict === 'delimiter') this.#at++
      return verdict
    }
    return 'undecided'
  }

  #hold(start: number): void {
    this.#held.set(this.#chunk.subarray(start), this.#heldSize)
    this.#heldSize += this.#chunk.length - start
  }
}

function slice(chunk: Uint8Array, start: number, end: number): Uint8Array | undefined {
  return start === end ? undefined : chunk.subarray(start, end)
}
