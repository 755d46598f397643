/**
 * Worker entry: makes one PNG of one photo, off the main thread, and ends.
 *
 * The decoders come as WebAssembly, so that a hostile photo can do no more than to fail. The PNG is
 * written for speed, not for size: it goes to a program on this machine.
 * @module
 */

import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { crc32 as nodeCrc32, createDeflate } from 'node:zlib'

/** The types of Node 20 do not know it. @type {any} */
const { WebAssembly } = globalThis

/** The unit in which WebAssembly counts memory. */
const PAGE_BYTES = 64 * 1024

/** Rows that are given to the compressor at once. */
const ROWS = 64

/** The fastest one. */
const LEVEL = 1

/** Filter type of PNG: each byte less the same one of the pixel to its left. */
const SUB = 1

const RGB = 2
const RGBA = 6

/** A picture as decoders return it; Node has no such class. */
class ImageData {
  /** @param {Uint8ClampedArray} data @param {number} width @param {number} height */
  constructor(data, width, height) {
    this.data = data
    this.width = width
    this.height = height
  }
}

Object.assign(globalThis, { ImageData })

async function run() {
  /** @type {import('./photo-task.ts').PhotoTask} */
  const { photo, script, wasm, pixels, maxBytes } = workerData
  boundMemory(maxBytes)
  const decoder = await import(pathToFileURL(script).href)
  await decoder.init(await WebAssembly.compile(await readFile(wasm)))
  const { buffer, byteOffset, byteLength } = photo
  const bytes = buffer.slice(byteOffset, byteOffset + byteLength)
  // It is turned upright, as its EXIF says.
  const picture = await decoder.default(bytes, { preserveOrientation: true })
  if (picture.width * picture.height !== pixels) throw new Error('It is of another size')
  const png = await encode(picture)
  parentPort?.postMessage(png, [png.buffer])
}

/**
 * The limits of a worker do not hold for WebAssembly, and its modules may take 2 GiB: a photo in
 * which a decoder reads another size than we do must not cost more than it admits.
 *
 * @param {number} maxBytes
 */
function boundMemory(maxBytes) {
  const { prototype } = WebAssembly.Memory
  const { grow } = prototype
  /** @param {number} pages */
  prototype.grow = function (pages) {
    const bytes = this.buffer.byteLength + pages * PAGE_BYTES
    // Decoders ask for less then, and give up in the end.
    if (bytes > maxBytes) throw new RangeError('A decoder wants too much memory')
    return grow.call(this, pages)
  }
}

/**
 * Writes a PNG (ISO/IEC 15948).
 *
 * @param {ImageData} picture
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function encode(picture) {
  const { width, height } = picture
  const hasAlpha = isTransparent(picture.data)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Bits of a channel, and the channels.
  header.set([8, hasAlpha ? RGBA : RGB], 8)
  const chunks = [Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunkOf('IHDR', header)]
  for await (const piece of compress(picture, hasAlpha ? 4 : 3)) {
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
 * @param {ImageData} picture
 * @param {number} channels
 * @returns {AsyncIterable<Buffer>}
 */
function compress(picture, channels) {
  const deflate = createDeflate({ level: LEVEL, chunkSize: 256 * 1024 })
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
 * @param {ImageData} picture
 * @param {number} first
 * @param {number} channels
 */
function filter({ data, width, height }, first, channels) {
  const rows = Math.min(ROWS, height - first)
  const filtered = Buffer.allocUnsafe(rows * (1 + width * channels))
  let to = 0
  for (let row = first; row < first + rows; row += 1) {
    filtered[to++] = SUB
    let from = row * width * 4
    for (let column = 0; column < width; column += 1, from += 4) {
      for (let channel = 0; channel < channels; channel += 1) {
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

/** @param {Uint8ClampedArray} data */
function isTransparent(data) {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 0xff) return true
  return false
}

await run()
