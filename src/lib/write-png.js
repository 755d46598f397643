/**
 * Writes pictures as PNG. Plain JavaScript, for a worker and for the build.
 *
 * @module
 */

import { crc32 as nodeCrc32, createDeflate } from 'node:zlib'

/**
 * Four bytes for each pixel, of rows from the top down: red, green, blue, opacity; or blue, green,
 * red, opacity, as Windows has them.
 *
 * @typedef {{ data: Uint8ClampedArray | Uint8Array, width: number, height: number,
 *   isBlueFirst?: boolean }} Picture
 */

/** Rows that are given to the compressor at once. */
const ROWS = 64

/** Filter type of PNG: each byte less the same one of the pixel to its left. */
const SUB = 1

const RGB = 2
const RGBA = 6

/**
 * Writes a PNG (ISO/IEC 15948), without transparency where nothing is transparent.
 *
 * @param {Picture} picture
 * @param {number} level Of compression, 1 to 9.
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function writePng(picture, level) {
  const { width, height } = picture
  const hasAlpha = isTransparent(picture.data)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Bits of a channel, and the channels.
  header.set([8, hasAlpha ? RGBA : RGB], 8)
  const chunks = [Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunkOf('IHDR', header)]
  for await (const piece of compress(picture, hasAlpha ? 4 : 3, level)) {
    chunks.push(...chunkOf('IDAT', piece))
  }
  chunks.push(...chunkOf('IEND', Buffer.alloc(0)))
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  const png = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    png.set(chunk, at)
    at += chunk.length
  }
  return png
}

/**
 * @param {Picture} picture
 * @param {number} channels
 * @param {number} level
 * @returns {AsyncIterable<Buffer>}
 */
function compress(picture, channels, level) {
  const deflate = createDeflate({ level, chunkSize: 256 * 1024 })
  const write = async () => {
    for (let row = 0; row < picture.height; row += ROWS) {
      const isFull = !deflate.write(filter(picture, row, channels))
      if (isFull) await new Promise((resolve) => deflate.once('drain', resolve))
    }
    deflate.end()
  }
  void write()
  return deflate
}

/**
 * Some rows, each behind its filter type.
 *
 * @param {Picture} picture
 * @param {number} first
 * @param {number} channels
 */
function filter({ data, width, height, isBlueFirst = false }, first, channels) {
  const [red, blue] = isBlueFirst ? [2, 0] : [0, 2]
  const order = [red, 1, blue, 3].slice(0, channels)
  const rows = Math.min(ROWS, height - first)
  const filtered = Buffer.allocUnsafe(rows * (1 + width * channels))
  let to = 0
  for (let row = first; row < first + rows; row += 1) {
    filtered[to++] = SUB
    let from = row * width * 4
    for (let column = 0; column < width; column += 1, from += 4) {
      for (const channel of order) {
        const left = column === 0 ? 0 : (data[from + channel - 4] ?? 0)
        filtered[to++] = (data[from + channel] ?? 0) - left
      }
    }
  }
  return filtered
}

/**
 * @param {string} type
 * @param {Buffer} content
 */
function chunkOf(type, content) {
  const name = Buffer.from(type, 'latin1')
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  sum.writeUInt32BE(nodeCrc32(content, nodeCrc32(name)))
  return [length, name, content, sum]
}

/** @param {Picture['data']} data */
function isTransparent(data) {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 0xff) return true
  return false
}
