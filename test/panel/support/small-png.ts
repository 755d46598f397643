/**
 * Writes a picture with 256 colours: a third of the bytes, and a page looks the same.
 * @module
 */

import { crc32, deflateSync } from 'node:zlib'
import { PNG } from 'pngjs'

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

const MAX_COLOURS = 256

/** Makes an opaque PNG smaller. The colours that are there most often stay exactly as they are. */
export function shrinkPng(bytes: Buffer): Buffer {
  const { width, height, data } = PNG.sync.read(bytes)
  const pixels = new Uint32Array(width * height)
  const counts = new Map<number, number>()
  for (const index of pixels.keys()) {
    const colour = data.readUIntBE(index * 4, 3)
    pixels[index] = colour
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  const byCount = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour)
  const palette = byCount.slice(0, MAX_COLOURS)
  const entries = new Map(byCount.map((colour) => [colour, nearest(colour, palette)]))

  // Each row begins with its filter, none.
  const rows = Buffer.alloc(height * (width + 1))
  for (const [index, colour] of pixels.entries()) {
    rows[index + Math.floor(index / width) + 1] = entries.get(colour) ?? 0
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits each, into a palette.
  header.set([8, 3, 0, 0, 0], 8)
  const colours = Buffer.from(palette.flatMap(channelsOf))
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** The index of the colour that looks most like this one. */
function nearest(colour: number, palette: readonly number[]): number {
  const wanted = channelsOf(colour)
  let best = 0
  let least = Infinity
  for (const [index, candidate] of palette.entries()) {
    const distance = channelsOf(candidate).reduce((sum, value, channel) => {
      return sum + (value - (wanted[channel] ?? 0)) ** 2
    }, 0)
    if (distance >= least) continue
    best = index
    least = distance
  }
  return best
}

function channelsOf(colour: number): readonly number[] {
  return [colour >> 16, (colour >> 8) & 255, colour & 255]
}

function chunk(type: string, body: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), body])
  const size = Buffer.alloc(4)
  size.writeUInt32BE(body.length)
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(content))
  return Buffer.concat([size, content, check])
}
