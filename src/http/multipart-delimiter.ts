/**
 * Finds the delimiters between the parts of a multipart body: RFC 2046 section 5.1.1.
 *
 * A delimiter is a whole line: CRLF, `--`, the boundary, blanks and tabs, CRLF. The closing one has
 * `--` behind the boundary, and anything or nothing behind a blank or line end after that. A line
 * that only begins like one, because its boundary is longer, is data: a captured request is a file
 * like others. Line ends without CR are data too.
 *
 * Each byte costs a bounded number of steps, whatever the body. A boundary has no CR, so the one in
 * front of a delimiter is its only one up to there: stretches that begin like a delimiter never
 * overlap, and what was compared in vain holds no beginning of another.
 *
 * Chunks are cut at the delimiters, and data is handed on as it lies in the chunk. Only a candidate
 * that the end of a chunk cuts is kept, and copied if it was data.
 * @module
 */

const CR = 0x0d
const LF = 0x0a
const SPACE = 0x20
const TAB = 0x09
const DASH = 0x2d

/** RFC 2046 sets no limit; a longer line is no delimiter. */
const MAX_TRANSPORT_PADDING = 256

/** Bytes of a delimiter that are its line end, which need not be there at the start of a body. */
const LINE_END_BYTES = 2

const NOTHING: Buffer = Buffer.alloc(0)

/** One between parts, or the last one. */
export type Delimiter = 'delimiter' | 'close'

/** The kind of a candidate, as far as its bytes tell. */
type Verdict = 'undecided' | 'data' | Delimiter

type Progress = 'boundary' | 'padding' | 'dash' | 'dashes' | 'lineEnd'

/** One boundary, and a candidate that is being looked at. */
class DelimiterMatcher {
  /** Bytes of a delimiter up to the end of its boundary. */
  readonly length: number
  /** The most bytes that a candidate has while it is undecided. */
  readonly maxLength: number
  readonly #needle: Buffer
  #matched = 0
  #progress: Progress = 'boundary'
  #padding = 0

  /** @param boundary At most 70 characters. */
  constructor(boundary: string) {
    const needle = Buffer.from(`\r\n--${boundary}`, 'latin1')
    this.#needle = needle
    this.length = needle.length
    this.maxLength = needle.length + MAX_TRANSPORT_PADDING + 2
  }

  /**
   * Where the next candidate begins whose bytes up to the end of the boundary are all there; then
   * they count as compared. -1 when no candidate is there.
   */
  find(bytes: Buffer, start: number): number {
    const first = bytes.indexOf(this.#needle, start)
    if (first !== -1) this.begin(this.#needle.length)
    return first
  }

  /**
   * Where the candidate may begin that the end of `bytes` cuts: at the last CR, since all others
   * are followed by one. -1 when no candidate is there.
   */
  findCut(bytes: Uint8Array, start: number): number {
    const first = Math.max(start, bytes.length - this.#needle.length + 1)
    for (let at = bytes.length - 1; at >= first; at--) if (bytes[at] === CR) return at
    return -1
  }

  /** Begins with a candidate of which `matched` bytes are known to fit. */
  begin(matched: number): void {
    this.#matched = matched
    this.#progress = 'boundary'
    this.#padding = 0
  }

  /** Compares the next byte of the candidate. */
  step(byte: number): Verdict {
    if (this.#matched < this.#needle.length) {
      return byte === this.#needle[this.#matched++] ? 'undecided' : 'data'
    }
    switch (this.#progress) {
      case 'dash':
        return byte === DASH ? this.#go('dashes') : 'data'
      case 'dashes':
        return isBlank(byte) || byte === CR || byte === LF ? 'close' : 'data'
      case 'lineEnd':
        return byte === LF ? 'delimiter' : 'data'
      case 'boundary':
        if (byte === DASH) return this.#go('dash')
    }
    if (byte === CR) return this.#go('lineEnd')
    if (!isBlank(byte) || ++this.#padding > MAX_TRANSPORT_PADDING) return 'data'
    return this.#go('padding')
  }

  /** Whether the candidate is a closing delimiter if nothing follows. */
  get isClosing(): boolean {
    return this.#progress === 'dashes'
  }

  #go(progress: Progress): Verdict {
    this.#progress = progress
    return 'undecided'
  }
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB
}

/** Finds the delimiters in a body that comes in chunks. */
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
  #found: Delimiter | undefined

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
    // The bytes that fitted in this chunk are data as well, and not yet handed on.
    this.#at = start
    return heldSize === 0 ? undefined : this.#held.slice(0, heldSize)
  }

  #scan(): Uint8Array | Delimiter | undefined {
    const chunk = this.#chunk
    const start = this.#at
    // Data that was handed on may have been given back since, and its chunk with it.
    if (start >= chunk.length) return undefined
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
