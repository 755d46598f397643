/**
 * The parts of a multipart/form-data body, as they come.
 *
 * Nothing is read ahead and nothing is kept: a part is read at the pace of whoever wants it, and
 * passed over when nobody does. What a part may hold is bounded either way.
 * @module
 */

import { GrowingBuffer } from '../lib/growing-buffer.ts'
import { HttpError, type HttpErrorCode } from './http-error.ts'
import { parseBoundary } from './field-values.ts'
import { MultipartParser } from './multipart-parser.ts'
import type { PartHeader } from './part-header.ts'
import { decodeField, type FieldText } from './urlencoded.ts'

/** One part of a form. */
export interface Part extends PartHeader {
  /**
   * To be iterated once. What is left unread is passed over when the next part is asked for, and
   * cannot be read then.
   *
   * @throws {HttpError} While iterating, as {@link readMultipart}.
   */
  readonly bytes: AsyncIterable<Uint8Array>
}

/** The bounds of a form. */
export interface MultipartLimits {
  /** One file. */
  readonly maxFileBytes: number
  /** One field. */
  readonly maxFieldBytes: number
  readonly maxFieldsBytes: number
  /** Which parts are files; all others are fields. */
  readonly isFile: (header: PartHeader) => boolean
}

/** Forms here have a dozen fields. */
const MAX_PARTS = 64

/** As much as a request header may have. */
const MAX_HEADER_BYTES: number = 16 * 1024

/** RFC 2046 has a note to the reader there; clients send a line end or nothing. */
const MAX_PADDING_BYTES: number = 64 * 1024

/**
 * Reads a form. Leaving early closes `source`, with its `return`.
 *
 * @param contentType That of the request.
 * @throws {HttpError} `MULTIPART_BOUNDARY` at once. While iterating, here or in a part:
 *   `MULTIPART_MALFORMED`, `MULTIPART_NESTED`, `MULTIPART_TRUNCATED`, `TOO_MANY_PARTS`,
 *   `PART_HEADER_TOO_LARGE`, `PADDING_TOO_LARGE`, `FILE_TOO_LARGE`, `FIELD_TOO_LARGE`,
 *   `FIELDS_TOO_LARGE`, `UNSUPPORTED_ENCODING`, and whatever `source` throws.
 */
export function readMultipart(
  source: AsyncIterable<Uint8Array>,
  contentType: string,
  limits: MultipartLimits,
): AsyncIterable<Part> {
  return readParts(new FormReader(source, parseBoundary(contentType), limits))
}

/**
 * Reads a part whole, as text in UTF-8.
 *
 * @throws {HttpError} `FIELD_TOO_LARGE`, `BAD_BODY` when it is not UTF-8, or as `part.bytes`.
 */
export async function readTextOf(
  { bytes }: Pick<Part, 'bytes'>,
  maxBytes: number,
): Promise<FieldText> {
  const text = new GrowingBuffer(undefined, maxBytes)
  for await (const chunk of bytes) {
    if (text.filled.length + chunk.length > maxBytes) throw tooLarge('FIELD_TOO_LARGE', maxBytes)
    text.append(chunk)
  }
  return decodeField(text.filled)
}

async function* readParts(reader: FormReader): AsyncGenerator<Part, void> {
  try {
    for (;;) {
      const header = await reader.nextHeader()
      if (header === undefined) return
      yield { ...header, bytes: reader.readPart() }
    }
  } finally {
    await reader.close()
  }
}

/** A parser and its source. */
class FormReader {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #parser: MultipartParser
  readonly #limits: MultipartLimits
  #isInFile = false
  #partBytes = 0
  #fieldsBytes = 0
  /** The number of the part that may be read; each part has its own. */
  #turn = 0
  #isEnded = false

  constructor(source: AsyncIterable<Uint8Array>, boundary: string, limits: MultipartLimits) {
    this.#source = source[Symbol.asyncIterator]()
    this.#parser = new MultipartParser(boundary, {
      maxParts: MAX_PARTS,
      maxHeaderBytes: MAX_HEADER_BYTES,
      maxPaddingBytes: MAX_PADDING_BYTES,
    })
    this.#limits = limits
  }

  /** Passes over what is left of the part at hand. `undefined` at the end of the form. */
  async nextHeader(): Promise<PartHeader | undefined> {
    this.#turn++
    for (;;) {
      const event = this.#parser.next()
      if (event === undefined) {
        if (this.#isEnded) return undefined
        this.#take(await this.#source.next())
      } else if (event.kind === 'part') {
        this.#isInFile = this.#limits.isFile(event.header)
        this.#partBytes = 0
        return event.header
      } else if (event.kind === 'data') {
        this.#count(event.bytes.length)
      }
    }
  }

  /** The rest of the part at hand. */
  readPart(): AsyncIterable<Uint8Array> {
    return this.#readWhile(this.#turn)
  }

  async close(): Promise<void> {
    this.#turn++
    await this.#source.return?.()
  }

  async *#readWhile(turn: number): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      // Or it would seem to end here.
      if (turn !== this.#turn) throw new Error('Cannot read a part after asking for the next one')
      const event = this.#parser.next()
      if (event === undefined) {
        this.#take(await this.#source.next())
      } else if (event.kind === 'data') {
        this.#count(event.bytes.length)
        yield event.bytes
      } else {
        return
      }
    }
  }

  #take(result: IteratorResult<Uint8Array, unknown>): void {
    if (result.done !== true) {
      this.#parser.push(result.value)
    } else {
      this.#isEnded = true
      this.#parser.end()
    }
  }

  #count(bytes: number): void {
    const { maxFileBytes, maxFieldBytes, maxFieldsBytes } = this.#limits
    this.#partBytes += bytes
    if (this.#isInFile) {
      if (this.#partBytes > maxFileBytes) throw tooLarge('FILE_TOO_LARGE', maxFileBytes)
      return
    }
    this.#fieldsBytes += bytes
    if (this.#partBytes > maxFieldBytes) throw tooLarge('FIELD_TOO_LARGE', maxFieldBytes)
    if (this.#fieldsBytes > maxFieldsBytes) throw tooLarge('FIELDS_TOO_LARGE', maxFieldsBytes)
  }
}

function tooLarge(code: HttpErrorCode, limit: number): HttpError {
  return new HttpError(code, `at most ${limit} bytes`)
}
