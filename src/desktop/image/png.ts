/**
 * Decodes PNG files: all colour types and depths, interlaced or not, with transparency.
 *
 * @module
 */

import type { ImageSource } from './image-source.ts'
import { inflate } from './inflate.ts'
import { MAX_HELD_PIXELS, PictureError, PIXEL_BYTES, type Picture } from './picture.ts'
import { endOf, readChunk, readPngHeader, type Chunk, type PngHeader } from './png-header.ts'
import { unfilter } from './png-filters.ts'
import { Rows } from './rows.ts'
import { createRowReader } from './samples.ts'

/** Pixels are handed on in parts of about this length. */
const PART_BYTES: number = 64 * 1024

/** 64 MiB in the chunks of 1 KiB that nobody makes are as many. */
const MAX_PIXEL_CHUNKS = 65_536

/** Where the pixels of each pass of Adam7 begin, and how far they are apart. */
const PASSES = [
  { x: 0, y: 0, dx: 8, dy: 8 },
  { x: 4, y: 0, dx: 8, dy: 8 },
  { x: 0, y: 4, dx: 4, dy: 8 },
  { x: 2, y: 0, dx: 4, dy: 4 },
  { x: 0, y: 2, dx: 2, dy: 4 },
  { x: 1, y: 0, dx: 2, dy: 2 },
  { x: 0, y: 1, dx: 1, dy: 2 },
] as const

/** @throws {PictureError} */
export async function openPng(source: ImageSource): Promise<Picture> {
  const header = await readPngHeader(source)
  const { width, height, isInterlaced } = header
  if (isInterlaced && width * height > MAX_HELD_PIXELS) {
    throw new PictureError('TOO_LARGE', 'it is interlaced', { width, height })
  }
  const pixels = isInterlaced ? interlacedPixels : straightPixels
  return { width, height, pixels: () => pixels(source, header) }
}

async function* straightPixels(source: ImageSource, header: PngHeader): AsyncGenerator<Uint8Array> {
  const { width, height, layout } = header
  const readRow = createRowReader(layout)
  const rowBytes = width * PIXEL_BYTES
  const rowsInPart = Math.max(1, Math.floor(PART_BYTES / rowBytes))
  const part = new Uint8Array(rowsInPart * rowBytes)
  const rows = new FilteredRows(source, header)
  try {
    rows.begin(width)
    for (let y = 0, inPart = 0; y < height; y += 1) {
      readRow(await rows.next(), width, part, inPart * rowBytes, PIXEL_BYTES)
      inPart += 1
      if (inPart < rowsInPart && y < height - 1) continue
      yield part.subarray(0, inPart * rowBytes)
      inPart = 0
    }
  } finally {
    await rows.close()
  }
}

async function* interlacedPixels(
  source: ImageSource,
  header: PngHeader,
): AsyncGenerator<Uint8Array> {
  const { width, height, layout } = header
  const readRow = createRowReader(layout)
  const all = new Uint8Array(width * height * PIXEL_BYTES)
  const rows = new FilteredRows(source, header)
  try {
    for (const { x, y, dx, dy } of PASSES) {
      const passWidth = Math.ceil((width - x) / dx)
      if (passWidth <= 0) continue
      rows.begin(passWidth)
      for (let row = y; row < height; row += dy) {
        const at = (row * width + x) * PIXEL_BYTES
        readRow(await rows.next(), passWidth, all, at, dx * PIXEL_BYTES)
      }
    }
  } finally {
    await rows.close()
  }
  for (let at = 0; at < all.length; at += PART_BYTES) yield all.subarray(at, at + PART_BYTES)
}

/** Rows of samples, each of which was stored as the difference to its neighbours. */
class FilteredRows {
  readonly #rows: Rows
  readonly #pixelBits: number
  #row: Uint8Array = new Uint8Array()
  #previous: Uint8Array = new Uint8Array()

  constructor(source: ImageSource, { pixels, layout }: PngHeader) {
    this.#rows = new Rows(inflate(packedPixels(source, pixels)))
    this.#pixelBits = layout.bits * layout.samples
  }

  /** Rows of this width follow. */
  begin(width: number): void {
    const length = 1 + Math.ceil((width * this.#pixelBits) / 8)
    this.#row = new Uint8Array(length)
    this.#previous = new Uint8Array(length)
  }

  /** Valid until the next call. */
  async next(): Promise<Uint8Array> {
    const row = this.#previous
    this.#previous = this.#row
    this.#row = row
    if (!this.#rows.fillNow(row)) await this.#rows.fill(row)
    unfilter(row, this.#previous, Math.ceil(this.#pixelBits / 8))
    return row.subarray(1)
  }

  close(): Promise<void> {
    return this.#rows.close()
  }
}

async function* packedPixels(source: ImageSource, first: Chunk): AsyncGenerator<Uint8Array> {
  let chunk = first
  for (let count = 0; count < MAX_PIXEL_CHUNKS && chunk.type === 'IDAT'; count += 1) {
    yield* source.pieces(chunk.at, chunk.length)
    chunk = await readChunk(source, endOf(chunk))
  }
}
