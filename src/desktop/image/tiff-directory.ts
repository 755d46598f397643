/**
 * The fields of the first image of a TIFF file (TIFF 6.0, section 2), as far as they are numbers.
 *
 * @module
 */

import type { ImageSource } from './image-source.ts'
import { PictureError } from './picture.ts'

export interface TiffDirectory {
  readonly isLittleEndian: boolean
  /** The values of a field; none when it is missing. */
  values(tag: number): readonly number[]
  /** The first value of a field. */
  value(tag: number, fallback: number): number
}

/** Far more than any image has. */
const MAX_FIELDS = 200

/** Of one field: an image has at most one strip for each row. */
const MAX_VALUES = 65_535

const ENTRY_BYTES = 12

/** Bytes of a value, for the types that hold whole numbers. */
const TYPE_BYTES: Readonly<Record<number, 1 | 2 | 4>> = { 1: 1, 3: 2, 4: 4 }

/**
 * @param tags The fields that are wanted; the others are not read.
 * @throws {PictureError}
 */
export async function readTiffDirectory(
  source: ImageSource,
  tags: ReadonlySet<number>,
): Promise<TiffDirectory> {
  const head = await source.read(0, 8)
  const isLittleEndian = head[0] === 0x49
  const integer = (bytes: Buffer, at: number, length: 1 | 2 | 4): number =>
    isLittleEndian ? bytes.readUIntLE(at, length) : bytes.readUIntBE(at, length)
  const at = integer(head, 4, 4)
  const count = integer(await source.read(at, 2), 0, 2)
  if (count > MAX_FIELDS) throw new PictureError('MALFORMED', 'it has too many fields')
  const entries = await source.read(at + 2, count * ENTRY_BYTES)
  const fields = new Map<number, readonly number[]>()
  for (let entry = 0; entry < entries.length; entry += ENTRY_BYTES) {
    const tag = integer(entries, entry, 2)
    const bytes = TYPE_BYTES[integer(entries, entry + 2, 2)]
    if (bytes === undefined || !tags.has(tag)) continue
    const length = integer(entries, entry + 4, 4)
    if (length > MAX_VALUES) throw new PictureError('MALFORMED', 'a field has too many values')
    const isInline = length * bytes <= 4
    const values = isInline
      ? entries.subarray(entry + 8, entry + ENTRY_BYTES)
      : await source.read(integer(entries, entry + 8, 4), length * bytes)
    fields.set(
      tag,
      Array.from({ length }, (_, n) => integer(values, n * bytes, bytes)),
    )
  }
  return {
    isLittleEndian,
    values: (tag) => fields.get(tag) ?? [],
    value: (tag, fallback) => fields.get(tag)?.[0] ?? fallback,
  }
}
