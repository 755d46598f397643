/**
 * Decodes TIFF files as systems and programs put them on a clipboard: the first image, in strips,
 * not compressed or with LZW, PackBits or Deflate; grey, RGB or with a palette.
 *
 * @module
 */

import { setImmediate } from 'node:timers/promises'
import type { ImageSource } from './image-source.ts'
import { inflate } from './inflate.ts'
import { decodeLzw } from './lzw.ts'
import { decodePackBits } from './pack-bits.ts'
import { checkSize, PictureError, PIXEL_BYTES, type Picture, type PictureSize } from './picture.ts'
import { Rows } from './rows.ts'
import { createRowReader } from './samples.ts'
import { readTiffDirectory } from './tiff-directory.ts'
import { readTiffLayout, undoPrediction, type TiffLayout } from './tiff-layout.ts'
import { TAG, TAGS } from './tiff-tags.ts'

const PART_BYTES: number = 64 * 1024

const COMPRESSIONS = [1, 5, 8, 32773, 32946] as const
type Compression = (typeof COMPRESSIONS)[number]

interface Strips {
  readonly compression: Compression
  readonly offsets: readonly number[]
  readonly lengths: readonly number[]
  readonly rows: number
}

/** @throws {PictureError} */
export async function openTiff(source: ImageSource): Promise<Picture> {
  const directory = await readTiffDirectory(source, TAGS)
  const size = { width: directory.value(TAG.width, 0), height: directory.value(TAG.height, 0) }
  checkSize(size)
  const layout = readTiffLayout(directory)
  const compression = COMPRESSIONS.find((known) => known === directory.value(TAG.compression, 1))
  const isTurned = directory.value(TAG.orientation, 1) !== 1
  if (compression === undefined || isTurned || directory.values(TAG.tileWidth).length > 0) {
    throw new PictureError('UNSUPPORTED', 'its pixels are packed in an unknown way', size)
  }
  const offsets = directory.values(TAG.stripOffsets)
  const lengths = directory.values(TAG.stripLengths)
  const rows = Math.min(size.height, directory.value(TAG.rowsInStrip, size.height))
  const isComplete = rows > 0 && offsets.length >= Math.ceil(size.height / rows)
  if (!isComplete || lengths.length < offsets.length) {
    throw new PictureError('MALFORMED', 'its pixels are missing')
  }
  // Strips that are used again and again would make a small file a lot of work.
  if (lengths.reduce((sum, length) => sum + length, 0) > source.size) {
    throw new PictureError('MALFORMED', 'its pixels overlap')
  }
  const strips = { compression, offsets, lengths, rows }
  return { ...size, pixels: () => pixels(source, size, layout, strips) }
}

async function* pixels(
  source: ImageSource,
  { width, height }: PictureSize,
  layout: TiffLayout,
  strips: Strips,
): AsyncGenerator<Uint8Array> {
  const readRow = createRowReader(layout)
  const row = new Uint8Array(Math.ceil((width * layout.samples * layout.bits) / 8))
  const rowBytes = width * PIXEL_BYTES
  const rowsInPart = Math.max(1, Math.floor(PART_BYTES / rowBytes))
  const part = new Uint8Array(rowsInPart * rowBytes)
  let inPart = 0
  for (let first = 0, strip = 0; first < height; first += strips.rows, strip += 1) {
    const stored = new Rows(unpack(source, strips, strip))
    try {
      for (let y = first; y < Math.min(height, first + strips.rows); y += 1) {
        if (!stored.fillNow(row)) await stored.fill(row)
        undoPrediction(row, layout)
        readRow(row, width, part, inPart * rowBytes, PIXEL_BYTES)
        inPart += 1
        if (inPart < rowsInPart && y < height - 1) continue
        yield part.subarray(0, inPart * rowBytes)
        inPart = 0
      }
    } finally {
      await stored.close()
    }
  }
}

/** The bytes of one strip. */
async function* unpack(
  source: ImageSource,
  { compression, offsets, lengths }: Strips,
  strip: number,
): AsyncGenerator<Uint8Array> {
  const [offset = 0, length = 0] = [offsets[strip], lengths[strip]]
  if (compression === 1) return yield* source.pieces(offset, length)
  if (compression === 8 || compression === 32946) {
    return yield* inflate(source.pieces(offset, length))
  }
  const packed = await source.read(offset, length)
  const decode = compression === 5 ? decodeLzw : decodePackBits
  for (const chunk of decode(packed)) {
    yield chunk
    // The others read from a file or wait for a thread now and then.
    await setImmediate()
  }
}
