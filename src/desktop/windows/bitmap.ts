/**
 * Device-independent bitmaps, as `CF_DIB` and `CF_DIBV5` hold them: a BMP file without its first
 * header. Those that are packed are not understood; no program copies them.
 * @module
 */

/** Rows from the top down, of blue, green, red and opacity, as Windows has them. */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array
}

/** Unpacked, each takes four bytes; a small file may announce any number. */
export const MAX_PIXELS: number = 64 * 1024 * 1024

/** The sizes of `BITMAPINFOHEADER` and `BITMAPV5HEADER`. */
const INFO_BYTES = 40
const V5_BYTES = 124

/** The sizes of headers of which masks of colours, and one of opacity, are a part. */
const WITH_MASKS = 52
const WITH_ALPHA = 56

const BI_RGB = 0
const BI_BITFIELDS = 3

const LCS_SRGB = 0x73524742
const LCS_GM_IMAGES = 4

/** Blue, green and red of pixels without masks, by the bits that each has. */
const USUAL_MASKS: Readonly<Record<number, Masks>> = {
  16: [0x1f, 0x3e0, 0x7c00],
  32: [0xff, 0xff00, 0xff0000],
}

type Masks = readonly [blue: number, green: number, red: number]

interface Header {
  readonly width: number
  readonly height: number
  readonly isTopDown: boolean
  readonly bits: number
  readonly masks: Masks | undefined
  /** The mask of opacity; 0 when there is none. */
  readonly alpha: number
  readonly palette: Buffer
  /** Rows of whole words of 32 bits. */
  readonly rows: Buffer
  readonly stride: number
}

/** Reads a bitmap; `undefined` when it is damaged, packed or too large. */
export function decodeBitmap(bytes: Uint8Array): Picture | undefined {
  const header = readHeader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  if (header === undefined) return undefined
  const { width, height, isTopDown, rows, stride } = header
  const pixels = Buffer.alloc(4 * width * height)
  for (let y = 0; y < height; y += 1) {
    const from = (isTopDown ? y : height - 1 - y) * stride
    const row = rows.subarray(from, from + stride)
    decodeRow(row, pixels.subarray(4 * width * y, 4 * width * (y + 1)), header)
  }
  // Programs that know no opacity leave it at 0.
  if (header.alpha === 0 || isInvisible(pixels)) {
    for (let at = 3; at < pixels.length; at += 4) pixels[at] = 0xff
  }
  return { width, height, pixels }
}

/** Makes a `CF_DIBV5`, with opacity. */
export function encodeBitmapV5({ width, height, pixels }: Picture): Uint8Array {
  const header = writeHeader(V5_BYTES, { width, height, compression: BI_BITFIELDS })
  const masks = [0xff0000, 0xff00, 0xff, 0xff000000, LCS_SRGB]
  for (const [index, mask] of masks.entries()) header.writeUInt32LE(mask, INFO_BYTES + 4 * index)
  header.writeUInt32LE(LCS_GM_IMAGES, 108)
  return Buffer.concat([header, ...upwards(pixels, width)])
}

/** Makes a `CF_DIB`, which knows no opacity, on white. */
export function encodeBitmap({ width, height, pixels }: Picture): Uint8Array {
  const header = writeHeader(INFO_BYTES, { width, height, compression: BI_RGB })
  const flat = Buffer.from(pixels)
  for (let at = 0; at < flat.length; at += 4) {
    const alpha = flat[at + 3] ?? 0
    for (let channel = at; alpha !== 0xff && channel < at + 3; channel += 1) {
      flat[channel] = Math.round(((flat[channel] ?? 0) * alpha + 0xff * (0xff - alpha)) / 0xff)
    }
    flat[at + 3] = 0
  }
  return Buffer.concat([header, ...upwards(flat, width)])
}

function isInvisible(pixels: Uint8Array): boolean {
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 0) return false
  return true
}

function readHeader(dib: Buffer): Header | undefined {
  if (dib.length < INFO_BYTES) return undefined
  const size = dib.readUInt32LE(0)
  const [width, signedHeight] = [dib.readInt32LE(4), dib.readInt32LE(8)]
  const height = Math.abs(signedHeight)
  const [bits, compression] = [dib.readUInt16LE(14), dib.readUInt32LE(16)]
  if (size < INFO_BYTES || size > dib.length || width <= 0 || height === 0) return undefined
  if (width * height > MAX_PIXELS || ![BI_RGB, BI_BITFIELDS].includes(compression)) return undefined
  if (![1, 4, 8, 16, 24, 32].includes(bits)) return undefined
  const hasMasks = compression === BI_BITFIELDS && (bits === 16 || bits === 32)
  // Later headers have them inside.
  const paletteAt = size + (compression === BI_BITFIELDS && size === INFO_BYTES ? 12 : 0)
  if (hasMasks && Math.max(paletteAt, WITH_MASKS) > dib.length) return undefined
  const colours = dib.readUInt32LE(32) || (bits <= 8 ? 2 ** bits : 0)
  const rowsAt = paletteAt + 4 * colours
  const stride = 4 * Math.ceil((width * bits) / 32)
  if (rowsAt + stride * height > dib.length) return undefined
  const masks = [48, 44, 40].map((at) => (hasMasks ? dib.readUInt32LE(at) : 0))
  const [blue = 0, green = 0, red = 0] = masks
  return {
    width,
    height,
    isTopDown: signedHeight < 0,
    bits,
    masks: hasMasks ? [blue, green, red] : USUAL_MASKS[bits],
    alpha: bits === 32 && size >= WITH_ALPHA ? dib.readUInt32LE(WITH_MASKS) : 0,
    palette: dib.subarray(paletteAt, rowsAt),
    rows: dib.subarray(rowsAt),
    stride,
  }
}

/** Fills a row of pixels. */
function decodeRow(row: Buffer, to: Buffer, { bits, masks, alpha, palette }: Header): void {
  if (masks !== undefined) {
    const readers = [...masks, alpha].map(readerOf)
    for (let pixel = 0; pixel < to.length / 4; pixel += 1) {
      const value = bits === 16 ? row.readUInt16LE(2 * pixel) : row.readUInt32LE(4 * pixel)
      for (const [channel, read] of readers.entries()) to[4 * pixel + channel] = read(value)
    }
    return
  }
  for (let pixel = 0; pixel < to.length / 4; pixel += 1) {
    if (bits === 24) {
      to.set(row.subarray(3 * pixel, 3 * pixel + 3), 4 * pixel)
      continue
    }
    const bit = pixel * bits
    const byte = row[bit >> 3] ?? 0
    const index = (byte >> (8 - bits - (bit & 7))) & (2 ** bits - 1)
    to.set(palette.subarray(4 * index, 4 * index + 3), 4 * pixel)
  }
}

/** Returns what takes a channel out of a pixel, as a number up to 255. */
function readerOf(mask: number): (pixel: number) => number {
  if (mask === 0) return () => 0
  const shift = 31 - Math.clz32(mask & -mask)
  const most = mask >>> shift
  if (most === 0xff) return (pixel) => (pixel >>> shift) & 0xff
  return (pixel) => Math.round((0xff * ((pixel & mask) >>> shift)) / most)
}

function writeHeader(
  size: number,
  { width, height, compression }: Omit<Picture, 'pixels'> & { readonly compression: number },
): Buffer {
  const header = Buffer.alloc(size)
  header.writeUInt32LE(size, 0)
  header.writeInt32LE(width, 4)
  header.writeInt32LE(height, 8)
  header.writeUInt16LE(1, 12)
  header.writeUInt16LE(32, 14)
  header.writeUInt32LE(compression, 16)
  header.writeUInt32LE(4 * width * height, 20)
  return header
}

/** The rows from the bottom up, as everybody expects them. */
function upwards(pixels: Uint8Array, width: number): readonly Uint8Array[] {
  const stride = 4 * width
  return Array.from({ length: pixels.length / stride }, (_, row) => {
    const end = pixels.length - row * stride
    return pixels.subarray(end - stride, end)
  })
}
