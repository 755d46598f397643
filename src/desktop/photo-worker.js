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
import { writePng } from '../lib/write-png.js'

/** The types of Node 20 do not know it. @type {any} */
const { WebAssembly } = globalThis

/** The unit in which WebAssembly counts memory. */
const PAGE_BYTES = 64 * 1024

/** The level of compression. */
const FASTEST = 1

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
  const png = await writePng(picture, FASTEST)
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

await run()
