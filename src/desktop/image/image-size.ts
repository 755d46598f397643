/**
 * Reads how large the picture in an image file is, where its pixels are not decoded: JPEG, GIF,
 * WebP, HEIC and AVIF.
 *
 * @module
 */

import type { ImageSource } from './image-source.ts'
import type { PictureSize } from './picture.ts'

/** What is looked at of a HEIC or AVIF file: sizes stand in front. */
const MAX_HEAD_BYTES: number = 256 * 1024

/** Before the size of a JPEG; programs write about ten. */
const MAX_SEGMENTS = 1000

/** `undefined` when it is in another format, or damaged. */
export async function readImageSize(source: ImageSource): Promise<PictureSize | undefined> {
  const head = await source.readSome(0, 32)
  const name = head.toString('latin1')
  if (name.startsWith('\xff\xd8')) return jpegSize(source)
  if (/^GIF8[79]a/.test(name)) return at(head, 10, () => twoIntegers(head, 6))
  if (name.startsWith('RIFF') && name.startsWith('WEBP', 8)) return webpSize(head)
  if (name.startsWith('ftyp', 4)) return largestSize(await source.readSome(0, MAX_HEAD_BYTES))
  return undefined
}

/** Goes from segment to segment up to the one that describes the frame (ITU T.81, B.2.2). */
async function jpegSize(source: ImageSource): Promise<PictureSize | undefined> {
  let position = 2
  for (let count = 0; count < MAX_SEGMENTS; count += 1) {
    const segment = await source.readSome(position, 9)
    if (segment.length < 9 || segment[0] !== 0xff) return undefined
    const marker = segment[1] ?? 0
    // Any number of them may stand in front of a marker.
    if (marker === 0xff) {
      position += 1
      continue
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { width: segment.readUInt16BE(7), height: segment.readUInt16BE(5) }
    position += 2 + segment.readUInt16BE(2)
  }
  return undefined
}

function webpSize(head: Buffer): PictureSize | undefined {
  const kind = head.toString('latin1', 12, 16)
  if (kind === 'VP8X') {
    return at(head, 30, () => ({
      width: head.readUIntLE(24, 3) + 1,
      height: head.readUIntLE(27, 3) + 1,
    }))
  }
  if (kind === 'VP8L') {
    return at(head, 25, () => {
      const bits = head.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    })
  }
  if (kind !== 'VP8 ') return undefined
  return at(head, 30, () => {
    const { width, height } = twoIntegers(head, 26)
    return { width: width & 0x3fff, height: height & 0x3fff }
  })
}

/** Tiles and thumbnails have sizes too, and are smaller (ISO/IEC 23008-12, 6.5.3). */
function largestSize(head: Buffer): PictureSize | undefined {
  let largest: PictureSize | undefined
  for (let found = head.indexOf('ispe'); found !== -1; found = head.indexOf('ispe', found + 4)) {
    if (found + 16 > head.length) break
    const size = { width: head.readUInt32BE(found + 8), height: head.readUInt32BE(found + 12) }
    const isLarger =
      largest === undefined || size.width * size.height > largest.width * largest.height
    if (isLarger) largest = size
  }
  return largest
}

function twoIntegers(head: Buffer, position: number): PictureSize {
  return { width: head.readUInt16LE(position), height: head.readUInt16LE(position + 2) }
}

function at<T>(head: Buffer, length: number, read: () => T): T | undefined {
  return head.length < length ? undefined : read()
}
