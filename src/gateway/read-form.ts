/**
 * Reads the fields of a multipart form. Files are handed to whoever wants them, as they come.
 * @module
 */

import type { IncomingMessage } from 'node:http'
import { LONG_BYTES } from '../http/held-bytes.ts'
import { type BodyCall, declaredLength, StreamedBody } from '../http/read-body.ts'
import { readTextOf, readMultipart, type Part } from '../http/multipart.ts'
import type { FieldPicker } from './wire/fields.ts'

/** In bytes. */
export interface FormLimits {
  /** Most bytes of the whole body. */
  readonly maxBody: number
  /** Most bytes of one file. */
  readonly maxFileBytes: number
  /** Most bytes of the fields together. */
  readonly maxMetadataBytes: number
}

const MULTIPART = /^\s*multipart\/form-data\s*(?:;|$)/i

/** A part of this name is the file, whether or not it has a file name. */
const FILE_FIELD = 'data'

/** Whether the body is said to be `multipart/form-data`; anything else is read as urlencoded. */
export function isMultipart({ headers }: IncomingMessage): boolean {
  return MULTIPART.test(headers['content-type'] ?? '')
}

/** Whether a part is the one that is meant to be the file, not just any file. */
export function isDataPart({ name }: Pick<Part, 'name'>): boolean {
  return name.toLowerCase() === FILE_FIELD
}

/**
 * Reads a multipart body.
 *
 * @param takeFile Reads a file, or leaves it, and can ask how many bytes have come since its
 *   beginning. Two files are never there at a time.
 * @throws {HttpError} As `StreamedBody`, `readMultipart` and `readTextOf`; `OVERLOADED`.
 */
export async function readMultipartForm(
  call: BodyCall,
  fields: FieldPicker,
  { maxBody, maxFileBytes, maxMetadataBytes }: FormLimits,
  takeFile: (part: Part, bytes: () => number) => Promise<void>,
): Promise<void> {
  const body = new StreamedBody(call, maxBody)
  const most = Math.min(maxMetadataBytes, declaredLength(call.request) ?? maxMetadataBytes)
  const parts = readMultipart(body, call.request.headers['content-type'] ?? '', {
    isFile,
    maxFileBytes,
    maxFieldBytes: maxMetadataBytes,
    maxFieldsBytes: maxMetadataBytes,
  })
  let isLong = false
  const takeTurn = (): Promise<void> => {
    isLong = true
    return call.waitForMemory()
  }
  for await (const part of parts) {
    if (isFile(part)) {
      body.takeTime()
      const before = body.received
      await takeFile(part, () => body.received - before)
      // The file takes room, and the bytes behind it hold it up.
      body.hurry()
    } else if (fields.wants(part.name)) {
      const hold = (count: number): void => call.holdBytes(count, most)
      const field = { ...part, bytes: held(part.bytes, hold, takeTurn) }
      fields.add(part.name, await readTextOf(field, most))
    }
  }
  if (isLong) await call.waitForMemory(true)
}

/** Counts what is read, since it stays in memory. */
async function* held(
  bytes: AsyncIterable<Uint8Array>,
  hold: (count: number) => void,
  takeTurn: () => Promise<void>,
): AsyncGenerator<Uint8Array, void> {
  let length = 0
  for await (const chunk of bytes) {
    hold(chunk.length)
    const before = length
    length += chunk.length
    if (before <= LONG_BYTES && length > LONG_BYTES) await takeTurn()
    yield chunk
  }
  // It may have come too slowly for one turn.
  if (length > LONG_BYTES) await takeTurn()
}

/** Browsers send an empty file name when no file was chosen. */
function isFile(header: Pick<Part, 'name' | 'fileName'>): boolean {
  return isDataPart(header) || (header.fileName ?? '') !== ''
}
