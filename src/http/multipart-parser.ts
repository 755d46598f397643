/**
 * Reads multipart/form-data: bytes in, events out. RFC 7578, RFC 2046 section 5.1.
 *
 * Does no IO and keeps no bodies: data is handed on as it lies in the chunks that were pushed. Any
 * cutting of a body into chunks gives the same events, with data cut differently. An error ends
 * the reading.
 *
 * The parser skips everything before the first and behind the closing delimiter.
 * @module
 */

import { HttpError } from './http-error.ts'
import { DelimiterScanner, type Delimiter } from './multipart-delimiter.ts'
import { parsePartHeader, type PartHeader } from './part-header.ts'

/** The bounds of a form. */
export interface ParserLimits {
  readonly maxParts: number
  /** The most bytes of the header of one part. */
  readonly maxHeaderBytes: number
  /** Before the first delimiter, and again after the closing one. */
  readonly maxPaddingBytes: number
}

export type MultipartEvent =
  | { readonly kind: 'part'; readonly header: PartHeader }
  /** Not empty. */
  | { readonly kind: 'data'; readonly bytes: Uint8Array }
  | { readonly kind: 'partEnd' }

const CR = 0x0d
const LF = 0x0a

type State = 'preamble' | 'header' | 'body' | 'epilogue'

/** The line end behind the closing delimiter does not count as epilogue. */
const LINE_END_BYTES = 2

const PART_END: MultipartEvent = { kind: 'partEnd' }

/**
 * @example
 * ```ts
 * parser.push(chunk)
 * for (let event = parser.next(); event !== undefined; event = parser.next()) …
 * ```
 */
export class MultipartParser {
  readonly #limits: ParserLimits
  readonly #scanner: DelimiterScanner
  readonly #header: HeaderBlock
  #state: State = 'preamble'
  #parts = 0
  #paddingBytes = 0
  #isEnded = false

  /** @param boundary As `parseBoundary` gives it. */
  constructor(boundary: string, limits: ParserLimits) {
    this.#limits = limits
    this.#scanner = new DelimiterScanner(boundary)
    this.#scanner.beginLine()
    this.#header = new HeaderBlock(limits.maxHeaderBytes)
  }

  /** Takes the next bytes, once `next` has no more events of the last ones. */
  push(chunk: Uint8Array): void {
    this.#scanner.push(chunk)
  }

  /** Says that no more bytes will come. There may be events left. */
  end(): void {
    this.#isEnded = true
  }

  /**
   * The next event; `undefined` when more bytes are needed or, after the end, when there is none.
   *
   * @throws {HttpError} `MULTIPART_MALFORMED`, `MULTIPART_NESTED`, `MULTIPART_TRUNCATED`,
   *   `PADDING_TOO_LARGE`, `PART_HEADER_TOO_LARGE`, `TOO_MANY_PARTS`, `UNSUPPORTED_ENCODING`.
   */
  next(): MultipartEvent | undefined {
    for (;;) {
      if (this.#state === 'header') return this.#readHeader() ?? this.#awaitMore()
      if (this.#state === 'epilogue') return this.#skipEpilogue()
      const scanned = this.#isEnded ? this.#scanner.finish() : this.#scanner.next()
      if (scanned === undefined) return this.#awaitMore()
      const isBody = this.#state === 'body'
      if (typeof scanned === 'string') {
        this.#pass(scanned)
        if (isBody) return PART_END
      } else {
        if (isBody) return { kind: 'data', bytes: scanned }
        this.#countPadding(scanned.length)
      }
    }
  }

  #pass(delimiter: Delimiter): void {
    this.#state = delimiter === 'close' ? 'epilogue' : 'header'
    if (delimiter === 'close') this.#paddingBytes = -LINE_END_BYTES
  }

  #readHeader(): MultipartEvent | undefined {
    const { maxParts } = this.#limits
    if (this.#parts === maxParts) {
      throw new HttpError('TOO_MANY_PARTS', `at most ${maxParts}`)
    }
    const { chunk, at } = this.#scanner
    const end = this.#header.findEnd(chunk, at)
    const piece = this.#scanner.take(end === -1 ? chunk.length : end)
    if (end === -1) {
      this.#header.keep(piece)
      return undefined
    }
    this.#parts++
    this.#state = 'body'
    this.#scanner.beginLine()
    return { kind: 'part', header: parsePartHeader(this.#header.finish(piece)) }
  }

  #skipEpilogue(): undefined {
    const { length } = this.#scanner.take(this.#scanner.chunk.length)
    this.#countPadding(length)
  }

  #countPadding(bytes: number): void {
    const { maxPaddingBytes } = this.#limits
    this.#paddingBytes += bytes
    if (this.#paddingBytes <= maxPaddingBytes) return
    throw new HttpError('PADDING_TOO_LARGE', `at most ${maxPaddingBytes} bytes`)
  }

  #awaitMore(): undefined {
    if (!this.#isEnded) return
    const isForeign = this.#state === 'preamble'
    throw new HttpError('MULTIPART_TRUNCATED', {
      ...(isForeign && { detail: 'no delimiter came; its line must end in CRLF' }),
    })
  }
}

type Line = 'empty' | 'carriageReturn' | 'filled'

/** Collects the header of a part: everything up to its first empty line. */
class HeaderBlock {
  readonly #maxBytes: number
  /** Holds what came with earlier chunks; most headers come in one. */
  #kept: Uint8Array | undefined
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
    throw new HttpError('PART_HEADER_TOO_LARGE', `at most ${this.#maxBytes} bytes`)
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
