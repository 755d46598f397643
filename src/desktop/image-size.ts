/** The size of a picture in pixels, out of the file that it is in. No pixel is decoded. @module */

import type { Openable } from '../lib/read-bytes.ts'
import { readTiffDirectory, readTiffStart } from './photo-orientation.ts'

interface PictureSize {
  readonly width: number
  readonly height: number
}

/** Reads bytes of a file; fewer than `length` only at its end. */
type Read = (position: number, length: number) => Promise<Buffer>

/** The beginning of a file, in which most formats have the size. */
const START_BYTES = 32

/** The beginning of a HEIC or AVIF file, in which the sizes are. */
const BOXES_BYTES: number = 256 * 1024

/** The segments of a JPEG in front of its size: programs write about 10, of up to 64 KiB each. */
const MAX_JPEG_SEGMENTS = 1000

/** The directory of a TIFF: programs write about 20 entries of 12 bytes behind their count. */
const TIFF_DIRECTORY_BYTES: number = 2 + 512 * 12
const TIFF_WIDTH = 256
const TIFF_HEIGHT = 257

/** Length of the BMP header of OS/2, whose sizes have 16 bits. */
const OS2_HEADER_BYTES = 12

/**
 * Reads the size of a PNG, JPEG, BMP, TIFF, GIF, WebP, HEIC or AVIF; `undefined` when the file is
 * in another format, or damaged. @throws What reading the file throws.
 */
export async function readImageSize(image: Openable): Promise<PictureSize | undefined> {
  const opened = await image.open()
  try {
    const size = await sizeIn(async (position, length) => {
      const bytes = Buffer.alloc(length)
      return bytes.subarray(0, await opened.read(bytes, position))
    })
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
  } catch (error) {
    // Reading behind the end of a buffer: the file ends in front of its size.
    if (error instanceof RangeError) return undefined
    throw error
  } finally {
    await opened.close()
  }
}

async function sizeIn(read: Read): Promise<PictureSize | undefined> {
  const head = await read(0, START_BYTES)
  const start = head.toString('latin1', 0, 16)
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return pair(head, 16, 'readUInt32BE', 4)
  if (start.startsWith('BM')) return bmpSize(head)
  if (/^(II\*\0|MM\0\*)/.test(start)) return tiffSize(read, head)
  if (/^GIF8[79]a/.test(start)) return pair(head, 6, 'readUInt16LE', 2)
  if (start.startsWith('\xff\xd8')) return jpegSize(read)
  if (start.startsWith('RIFF') && start.startsWith('WEBP', 8)) return webpSize(head)
  return start.startsWith('ftyp', 4) ? largestSize(await read(0, BOXES_BYTES)) : undefined
}

/** A BMP that is stored from its top row on has a negative height. */
function bmpSize(head: Buffer): PictureSize {
  if (head.readUInt32LE(14) === OS2_HEADER_BYTES) return pair(head, 18, 'readUInt16LE', 2)
  return { width: head.readInt32LE(18), height: Math.abs(head.readInt32LE(22)) }
}

/**
 * Goes from segment to segment up to the one that describes the frame (ITU T.81, B.2.2). What does
 * not stand in front of it in a JPEG is not gone over: decoders would read on somewhere else.
 */
async function jpegSize(read: Read): Promise<PictureSize | undefined> {
  let position = 2
  for (let count = 0; count < MAX_JPEG_SEGMENTS; count += 1) {
    const segment = await read(position, 9)
    if (segment.readUInt8(0) !== 0xff) return undefined
    const marker = segment.readUInt8(1)
    if (isFrame(marker)) return { width: segment.readUInt16BE(7), height: segment.readUInt16BE(5) }
    if (marker === 0xff) {
      // Any number of them may stand in front of a marker.
      position += 1
    } else if (hasNoLength(marker)) {
      position += 2
    } else {
      const length = segment.readUInt16BE(2)
      // The length counts its own two bytes.
      if (!isBeforeFrame(marker) || length < 2) return undefined
      position += 2 + length
    }
  }
  return undefined
}

/** Tables of Huffman and arithmetic codes, and an extension, have numbers among those of frames. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

/** `TEM` and `RST`: markers alone, and not the beginnings of segments. */
const hasNoLength = (marker: number): boolean =>
  marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)

/** `DHT`, `DAC`, `DQT`, `DRI`, `APP` and `COM`. */
const isBeforeFrame = (marker: number): boolean =>
  [0xc4, 0xcc, 0xdb, 0xdd, 0xfe].includes(marker) || (marker >= 0xe0 && marker <= 0xef)

function webpSize(head: Buffer): PictureSize | undefined {
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 }
    case 'VP8L': {
      const bits = head.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8 ': {
      const { width, height } = pair(head, 26, 'readUInt16LE', 2)
      return { width: width & 0x3fff, height: height & 0x3fff }
    }
    default:
      return undefined
  }
}

/** In HEIC and AVIF, tiles and thumbnails have smaller sizes too (ISO/IEC 23008-12, 6.5.3). */
function largestSize(head: Buffer): PictureSize | undefined {
  const areaOf = ({ width, height }: PictureSize): number => width * height
  let largest: PictureSize | undefined
  for (let found = head.indexOf('ispe'); found !== -1; found = head.indexOf('ispe', found + 4)) {
    if (found + 16 > head.length) break
    const size = pair(head, found + 8, 'readUInt32BE', 4)
    if (largest === undefined || areaOf(size) > areaOf(largest)) largest = size
  }
  return largest
}

/** The directory of a TIFF may be anywhere; many programs write it behind the pixels (TIFF 6.0). */
async function tiffSize(read: Read, head: Buffer): Promise<PictureSize | undefined> {
  const { isLittle, directoryAt } = readTiffStart(head)
  const found = readTiffDirectory(await read(directoryAt, TIFF_DIRECTORY_BYTES), isLittle)
  const [width, height] = [found.get(TIFF_WIDTH), found.get(TIFF_HEIGHT)]
  return width === undefined || height === undefined ? undefined : { width, height }
}

function pair(
  head: Buffer,
  position: number,
  read: 'readUInt16LE' | 'readUInt32BE',
  bytes: number,
): PictureSize {
  return { width: head[read](position), height: head[read](position + bytes) }
}
