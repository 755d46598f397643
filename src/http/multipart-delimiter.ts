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
 * @module
 */

const CR = 0x0d
const LF = 0x0a
const SPACE = 0x20
const TAB = 0x09
const DASH = 0x2d

/** RFC 2046 sets no limit; a longer line is no delimiter. */
const MAX_TRANSPORT_PADDING = 256

/** One between parts, or the last one. */
export type Delimiter = 'delimiter' | 'close'

/** What a candidate is, as far as its bytes tell. */
export type Verdict = 'undecided' | 'data' | Delimiter

type Progress = 'boundary' | 'padding' | 'dash' | 'dashes' | 'lineEnd'

/** One boundary, and a candidate that is being looked at. */
export class DelimiterMatcher {
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
   * they count as compared. -1 when there is none.
   */
  find(bytes: Buffer, start: number): number {
    const first = bytes.indexOf(this.#needle, start)
    if (first !== -1) this.begin(this.#needle.length)
    return first
  }

  /**
   * Where the candidate may begin that the end of `bytes` cuts: at the last CR, since all others
   * are followed by one. -1 when there is none.
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
