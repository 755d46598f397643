/**
 * Runs the multipart parser over a whole body, cut as one likes, and sums up what it says.
 * @module
 */

import { HttpError, type HttpErrorCode } from '../../../src/http/http-error.ts'
import { MultipartParser, type ParserLimits } from '../../../src/http/multipart-parser.ts'
import type { PartHeader } from '../../../src/http/part-header.ts'

/** Events of one part. */
export interface ParsedPart extends PartHeader {
  /** Bytes as latin1. */
  readonly body: string
  /** Its end came. */
  readonly isWhole: boolean
}

export interface ParsedForm {
  readonly parts: readonly ParsedPart[]
  /** `undefined` when the form is sound. */
  readonly error: HttpErrorCode | undefined
}

export interface ParseFormOptions {
  readonly boundary?: string
  /** Lengths of the chunks; the last one is used again and again. Whole when there is none. */
  readonly cuts?: readonly number[]
  readonly limits?: Partial<ParserLimits>
  /** Sees each chunk before the parser does. */
  readonly watch?: (chunk: Buffer) => Buffer
}

export const BOUNDARY = 'x-BOUNDARY-x'

export const LIMITS: ParserLimits = {
  maxParts: 64,
  maxHeaderBytes: 16 * 1024,
  maxPaddingBytes: 64 * 1024,
}

/** Throws only what is not an `HttpError`. */
export function parseForm(
  body: Buffer | string,
  { boundary = BOUNDARY, cuts = [], limits, watch = (chunk) => chunk }: ParseFormOptions = {},
): ParsedForm {
  const parts: { header: PartHeader; body: Uint8Array[]; isWhole: boolean }[] = []
  const parser = new MultipartParser(boundary, { ...LIMITS, ...limits })
  const readEvents = () => {
    for (let event = parser.next(); event !== undefined; event = parser.next()) {
      const part = parts.at(-1)
      if (event.kind === 'part') parts.push({ header: event.header, body: [], isWhole: false })
      else if (part === undefined || part.isWhole) throw new Error(`A ${event.kind} of no part`)
      else if (event.kind === 'partEnd') part.isWhole = true
      else if (event.bytes.length === 0) throw new Error('Data of no bytes')
      else part.body.push(event.bytes)
    }
  }
  let error: HttpErrorCode | undefined
  try {
    for (const chunk of cut(Buffer.from(body), cuts)) {
      parser.push(watch(chunk))
      readEvents()
    }
    parser.end()
    readEvents()
  } catch (thrown) {
    if (!(thrown instanceof HttpError)) throw thrown
    error = thrown.code
  }
  return {
    // Read late, since the bytes are the reader's to keep.
    parts: parts.map(({ header, body, isWhole }) => ({
      ...header,
      body: Buffer.concat(body).toString('latin1'),
      isWhole,
    })),
    error,
  }
}

/** A form of these parts, each a header and a body: `form(['name="a"', 'text'])`. */
export function form(...parts: readonly (readonly [disposition: string, body: string])[]): string {
  const lines = parts.flatMap(([disposition, body]) => [
    `--${BOUNDARY}`,
    `Content-Disposition: form-data; ${disposition}`,
    '',
    body,
  ])
  return [...lines, `--${BOUNDARY}--`, ''].join('\r\n')
}

/** A form of one part with these header lines. */
export function formWithHeader(...lines: readonly string[]): string {
  return [`--${BOUNDARY}`, ...lines, '', 'body', `--${BOUNDARY}--`, ''].join('\r\n')
}

export function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const length = lengths[Math.min(index, lengths.length - 1)] ?? bytes.length
    chunks.push(bytes.subarray(at, at + length))
    at += length
  }
  return chunks
}
