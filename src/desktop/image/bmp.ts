/**
 * Decodes BMP files that are not compressed.
 *
 * What is in the fourth byte of a pixel counts as alpha only where the header says so: most
 * programs leave anything there.
 *
 * @module
 */

import type { ImageSource } from './image-source.ts'
import { checkSize, PictureError, PIXEL_BYTES, type Picture } from './picture.ts'
import { createRowReader, write, type ReadRow } from './samples.ts'

const FILE_HEADER_BYTES = 14
/** The header of OS/2, which is shorter, and the usual one. */
const CORE_HEADER_BYTES = 12
const INFO_HEADER_BYTES = 40
const MAX_HEADER_BYTES = 124

const RGB = 0
const BITFIELDS = 3
const ALPHA_BITFIELDS = 6

const PART_BYTES: number = 64 * 1024

interface BmpHeader {
  readonly width: number
  readonly height: number
  readonly isTopDown: boolean
  readonly bits: number
  readonly pixelsAt: number
  readonly readRow: ReadRow
}

/** @throws {PictureError} */
export async function openBmp(source: ImageSource): Promise<Picture> {
  const header = await readHeader(source)
  const { width, height } = header
  return { width, height, pixels: () => pixels(source, header) }
}

async function* pixels(source: ImageSource, header: BmpHeader): AsyncGenerator<Uint8Array> {
  const { width, height, isTopDown, bits, pixelsAt, readRow } = header
  const storedBytes = 4 * Math.ceil((width * bits) / 32)
  const rowBytes = width * PIXEL_BYTES
  const rowsInPart = Math.max(1, Math.floor(PART_BYTES / rowBytes))
  const part = new Uint8Array(rowsInPart * rowBytes)
  for (let y = 0; y < height; y += rowsInPart) {
    const count = Math.min(rowsInPart, height - y)
    const first = isTopDown ? y : height - y - count
    const stored = await source.read(pixelsAt + first * storedBytes, count * storedBytes)
    for (let n = 0; n < count; n += 1) {
      const row = isTopDown ? n : count - 1 - n
      readRow(stored.subarray(row * storedBytes), width, part, n * rowBytes, PIXEL_BYTES)
    }
    yield part.subarray(0, count * rowBytes)
  }
}

async function readHeader(source: ImageSource): Promise<BmpHeader> {
  const start = await source.read(0, FILE_HEADER_BYTES + 4)
  const pixelsAt = start.readUInt32LE(10)
  const length = start.readUInt32LE(FILE_HEADER_BYTES)
  const isCore = length === CORE_HEADER_BYTES
  if (!isCore && (length < INFO_HEADER_BYTES || length > MAX_HEADER_BYTES)) {
    throw new PictureError('UNSUPPORTED', 'it has an unknown header')
  }
  const info = await source.read(FILE_HEADER_BYTES, length)
  const width = isCore ? info.readUInt16LE(4) : info.readInt32LE(4)
  const signedHeight = isCore ? info.readUInt16LE(6) : info.readInt32LE(8)
  const size = { width, height: Math.abs(signedHeight) }
  checkSize(size)
  const bits = info.readUInt16LE(isCore ? 10 : 14)
  const compression = isCore ? RGB : info.readUInt32LE(16)
  const tableAt = FILE_HEADER_BYTES + length
  let readRow: ReadRow
  if (bits === 1 || bits === 4 || bits === 8) {
    if (compression !== RGB) throw packed()
    const entryBytes = isCore ? 3 : 4
    const table = await source.readSome(
      tableAt,
      Math.min(pixelsAt - tableAt, entryBytes * 2 ** bits),
    )
    const palette = paletteOf(table, entryBytes)
    readRow = createRowReader({ bits, samples: 1, colour: 'palette', alpha: 'none', palette })
  } else {
    readRow = maskedReader(bits, await readMasks(source, { bits, compression, info }))
  }
  return { ...size, isTopDown: signedHeight < 0, bits, pixelsAt, readRow }
}

interface MaskInfo {
  readonly bits: number
  readonly compression: number
  readonly info: Buffer
}

/** Which bits of a pixel are red, green, blue and alpha. */
async function readMasks(
  source: ImageSource,
  { bits, compression, info }: MaskInfo,
): Promise<readonly number[]> {
  if (compression === RGB) {
    if (bits === 16) return [0x7c00, 0x3e0, 0x1f, 0]
    if (bits === 24 || bits === 32) return [0xff0000, 0xff00, 0xff, 0]
  }
  const isMasked = compression === BITFIELDS || compression === ALPHA_BITFIELDS
  if (!isMasked || (bits !== 16 && bits !== 32)) throw packed()
  // They stand behind the short header, and are a part of the longer ones.
  const count = compression === ALPHA_BITFIELDS || info.length >= 56 ? 4 : 3
  const at = FILE_HEADER_BYTES + INFO_HEADER_BYTES
  const masks = await source.read(at, 4 * count)
  return Array.from({ length: 4 }, (_, n) => (n < count ? masks.readUInt32LE(4 * n) : 0))
}

function maskedReader(bits: number, masks: readonly number[]): ReadRow {
  const [red, green, blue, alpha] = masks.map(channelReader)
  const bytes = bits / 8
  return (row, width, pixels, start, step) => {
    for (let x = 0, from = 0, at = start; x < width; x += 1, from += bytes, at += step) {
      let pixel = 0
      for (let n = bytes - 1; n >= 0; n -= 1) pixel = (pixel << 8) | (row[from + n] ?? 0)
      const a = masks[3] === 0 ? 255 : (alpha?.(pixel) ?? 255)
      write(pixels, at, red?.(pixel) ?? 0, green?.(pixel) ?? 0, blue?.(pixel) ?? 0, a, true)
    }
  }
}

function channelReader(mask: number): (pixel: number) => number {
  const shift = mask === 0 ? 0 : 31 - Math.clz32(mask & -mask)
  const max = mask >>> shift
  if (max === 255) return (pixel) => (pixel >>> shift) & 255
  return max === 0 ? () => 0 : (pixel) => Math.round((((pixel & mask) >>> shift) * 255) / max)
}

function paletteOf(table: Buffer, entryBytes: number): Uint8Array {
  const count = Math.floor(table.length / entryBytes)
  const palette = new Uint8Array(PIXEL_BYTES * count)
  for (let n = 0; n < count; n += 1) {
    const [blue = 0, green = 0, red = 0] = table.subarray(n * entryBytes)
    palette.set([red, green, blue, 255], PIXEL_BYTES * n)
  }
  return palette
}

function packed(): PictureError {
  return new PictureError('UNSUPPORTED', 'its pixels are packed in an unknown way')
}
