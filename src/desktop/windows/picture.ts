/** Pixels, and how they become a PNG. @module */

import { crc32, deflateSync } from 'node:zlib'

/** Rows from the top down, of blue, green, red and opacity, as Windows has them. */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array
}

/** Unpacked, each takes four bytes; a small file may announce any number. */
export const MAX_PIXELS: number = 64 * 1024 * 1024

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

const RGB = 2
const RGBA = 6

/** As differences to the row above, screenshots take half of the space. */
const FILTER_UP = 2

/** More takes twice as long, and saves little. */
const LEVEL = 3

/** The places of red, green, blue and opacity in a pixel. */
const CHANNELS = [2, 1, 0, 3] as const

/** Makes a PNG with 8 bits a channel, without opacity when everything is opaque. */
export function encodePng({ width, height, pixels }: Picture): Uint8Array {
  const isOpaque = alphaOf(pixels) === 'opaque'
  const channels = isOpaque ? CHANNELS.slice(0, 3) : CHANNELS
  const stride = 4 * width
  const lines = Buffer.alloc((1 + width * channels.length) * height)
  let to = 0
  for (let row = 0; row < pixels.length; row += stride) {
    lines[to++] = FILTER_UP
    for (let pixel = row; pixel < row + stride; pixel += 4) {
      for (const channel of channels) {
        const at = pixel + channel
        lines[to++] = (pixels[at] ?? 0) - (pixels[at - stride] ?? 0)
      }
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  header[9] = isOpaque ? RGB : RGBA
  return Buffer.concat([
    SIGNATURE,
    ...chunk('IHDR', header),
    ...chunk('IDAT', deflateSync(lines, { level: LEVEL })),
    ...chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Tells whether pixels can be seen through; `none` when nothing of them could be seen. */
export function alphaOf(pixels: Uint8Array): 'opaque' | 'some' | 'none' {
  const first = pixels[3]
  if (first !== 0 && first !== 0xff) return 'some'
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== first) return 'some'
  return first === 0 ? 'none' : 'opaque'
}

/** Its length, its name, its data, and a checksum of the last two. */
function chunk(name: string, data: Uint8Array): readonly Uint8Array[] {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const named = Buffer.from(name, 'latin1')
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(data, crc32(named)))
  return [length, named, data, checksum]
}
