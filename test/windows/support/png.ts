/** Decodes what PNG files of eight bits hold, with nothing of the program. @module */

import assert from 'node:assert/strict'
import { inflateSync } from 'node:zlib'

/** Bytes of a pixel, by the type of its colors. */
const PIXEL_BYTES: Readonly<Record<number, number>> = { 2: 3, 6: 4 }

/** The pixels from the top left, each as AARRGGBB. */
export function readPixels(png: Buffer): readonly string[] {
  assert.equal(png.toString('latin1', 0, 8), '\x89PNG\r\n\x1a\n')
  const [width, height, depth, type] = [
    png.readUInt32BE(16),
    png.readUInt32BE(20),
    png[24],
    png[25] ?? 0,
  ]
  const pixelBytes = PIXEL_BYTES[type] ?? assert.fail(`type ${type}`)
  assert.deepEqual([depth, png[28]], [8, 0], 'eight bits, not interlaced')
  const data = inflateSync(Buffer.concat(chunksOf(png, 'IDAT')))
  let above = Buffer.alloc(width * pixelBytes)
  const pixels: string[] = []
  for (let y = 0; y < height; y++) {
    const begin = y * (above.length + 1)
    const line = data.subarray(begin + 1, begin + 1 + above.length)
    const row = Buffer.alloc(above.length)
    for (const [x, byte] of line.entries()) {
      const [left, up, corner] = [
        row[x - pixelBytes] ?? 0,
        above[x] ?? 0,
        above[x - pixelBytes] ?? 0,
      ]
      row[x] = byte + predict(data[begin] ?? 0, left, up, corner)
    }
    for (let x = 0; x < width; x++) {
      const [red = 0, green = 0, blue = 0, alpha = 255] = row.subarray(
        x * pixelBytes,
        (x + 1) * pixelBytes,
      )
      pixels.push(Buffer.of(alpha, red, green, blue).toString('hex'))
    }
    above = row
  }
  return pixels
}

/** What a filter of PNG adds (RFC 2083, section 6). */
function predict(filter: number, left: number, up: number, corner: number): number {
  const [byLeft, byUp, byCorner] = [up - corner, left - corner, left + up - 2 * corner].map(
    Math.abs,
  )
  const paeth =
    (byLeft ?? 0) <= Math.min(byUp ?? 0, byCorner ?? 0)
      ? left
      : (byUp ?? 0) <= (byCorner ?? 0)
        ? up
        : corner
  return [0, left, up, (left + up) >> 1, paeth][filter] ?? assert.fail(`filter ${filter}`)
}

function chunksOf(png: Buffer, name: string): readonly Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 8; at < png.length; ) {
    const size = png.readUInt32BE(at)
    const isWanted = png.toString('latin1', at + 4, at + 8) === name
    if (isWanted) chunks.push(png.subarray(at + 8, at + 8 + size))
    at += 12 + size
  }
  return chunks
}
