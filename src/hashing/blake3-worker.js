/**
 * Worker entry: BLAKE3 of files, off the main thread.
 *
 * Reads a file while it is being written, behind the writer: that costs less than handing the
 * bytes over. Imports nothing of ours, so that it runs from the sources and beside a bundle alike.
 *
 * @module
 */

import { readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * @typedef {{ readonly kind: 'advance' | 'digest', readonly job: number, readonly fd: number, readonly end: number }} Advance
 * @typedef {{ readonly kind: 'cancel', readonly job: number }} Cancel
 * @typedef {(input: number, stride: number, blocks: number, counter: number, counterHigh: number, counterStep: number, first: number, all: number, last: number, length: number, output: number) => void} Compress
 * @typedef {{ piece(length: number): void, last(length: number): string }} Hasher
 * @typedef {{ readonly hasher: Hasher, position: number, failure?: string }} Job
 */

const CHUNK = 1024
const BLOCK = 64
const CHAIN = 32
const PAGE = 65_536

/** What is read at a time: a power of two, so that it is one subtree. */
const PIECE = 512 * CHUNK

/** The kernel reads and writes four at a time, and so past the end. */
const OVERRUN = 4

/** Where in the memory the piece is, its chaining values, and two of them to be made one. */
const INPUT = 0
const CHAINS = INPUT + PIECE + OVERRUN * CHUNK
const PAIR = CHAINS + (PIECE / CHUNK + OVERRUN) * CHAIN
const MEMORY = PAIR + 2 * CHAIN

const CHUNK_START = 1
const CHUNK_END = 2
const PARENT = 4
const ROOT = 8

const memory = new WebAssembly.Memory({ initial: Math.ceil(MEMORY / PAGE) })
const bytes = new Uint8Array(memory.buffer)

/** One file: the roots of the complete subtrees so far. */
class TreeHasher {
  /** @type {Compress} */
  #compress
  /** Complete chunks so far. */
  #chunks = 0
  /** @type {{ readonly chunks: number, readonly chain: Uint8Array }[]} */
  #subtrees = []

  /** @param {Compress} compress */
  constructor(compress) {
    this.#compress = compress
  }

  /**
   * Hashes what was put at `INPUT`: a whole piece, and never the end of the file, which is hashed
   * in another way.
   */
  piece() {
    this.#push(INPUT, PIECE / CHUNK)
  }

  /**
   * Hashes the rest of the file.
   *
   * @param {number} length
   * @returns {string}
   */
  last(length) {
    let next = INPUT
    const end = INPUT + length
    while (end - next > CHUNK) {
      const chunks = largestPowerOfTwo(Math.floor((end - next - 1) / CHUNK))
      this.#push(next, chunks)
      next += chunks * CHUNK
    }
    const blocks = Math.max(1, Math.ceil((end - next) / BLOCK))
    const inLastBlock = end - next - (blocks - 1) * BLOCK
    bytes.fill(0, end, next + blocks * BLOCK)
    const root = this.#subtrees.length === 0 ? ROOT : 0
    const high = Math.floor(this.#chunks / 2 ** 32)
    this.#compress(
      next, 0, blocks, this.#chunks, high, 0, CHUNK_START, 0, CHUNK_END | root, inLastBlock, CHAINS,
    )
    for (let left = this.#subtrees.pop(); left !== undefined; left = this.#subtrees.pop()) {
      this.#join(left.chain, this.#subtrees.length === 0 ? ROOT : 0)
    }
    return Buffer.from(firstChain()).toString('hex')
  }

  /**
   * Hashes a subtree: a power of two of chunks, which divides the number of those before it.
   *
   * @param {number} start
   * @param {number} chunks
   */
  #push(start, chunks) {
    const compress = this.#compress
    const high = Math.floor(this.#chunks / 2 ** 32)
    for (let i = 0; i < chunks; i += 4) {
      compress(
        start + i * CHUNK, CHUNK, CHUNK / BLOCK, this.#chunks + i, high, 1,
        CHUNK_START, 0, CHUNK_END, BLOCK, CHAINS + i * CHAIN,
      )
    }
    for (let parents = chunks / 2; parents >= 1; parents /= 2) {
      for (let i = 0; i < parents; i += 4) {
        const children = CHAINS + i * 2 * CHAIN
        compress(children, BLOCK, 1, 0, 0, 0, 0, PARENT, 0, BLOCK, CHAINS + i * CHAIN)
      }
    }
    this.#chunks += chunks
    let size = chunks
    for (let left = this.#subtrees.at(-1); left?.chunks === size; left = this.#subtrees.at(-1)) {
      this.#subtrees.pop()
      this.#join(left.chain, 0)
      size *= 2
    }
    this.#subtrees.push({ chunks: size, chain: firstChain() })
  }

  /**
   * Joins a chaining value with the first one.
   *
   * @param {Uint8Array} left
   * @param {number} root
   */
  #join(left, root) {
    bytes.set(left, PAIR)
    bytes.set(firstChain(), PAIR + CHAIN)
    this.#compress(PAIR, 0, 1, 0, 0, 0, 0, PARENT, root, BLOCK, CHAINS)
  }
}

function firstChain() {
  return bytes.slice(CHAINS, CHAINS + CHAIN)
}

/** @param {number} limit */
function largestPowerOfTwo(limit) {
  return 2 ** Math.floor(Math.log2(limit))
}

/** @returns {Promise<() => Promise<Hasher>>} */
async function chooseHasher() {
  /** @type {{ readonly kernel: Uint8Array }} */
  const { kernel } = workerData
  if (WebAssembly.validate(kernel)) {
    const { instance } = await WebAssembly.instantiate(kernel, { env: { memory } })
    const compress = /** @type {Compress} */ (instance.exports['compress'])
    return async () => new TreeHasher(compress)
  }
  // A processor without the instructions, or one for which V8 does not know them.
  const require = createRequire(import.meta.url)
  /** @type {typeof import('hash-wasm')} */
  const { createBLAKE3 } = require('hash-wasm')
  return async () => {
    const hasher = (await createBLAKE3()).init()
    const update = (/** @type {number} */ length) => hasher.update(bytes.subarray(INPUT, INPUT + length))
    return { piece: update, last: (length) => update(length).digest() }
  }
}

const createHasher = await chooseHasher()

/** @type {Map<number, Job>} */
const jobs = new Map()

/** @param {Advance | Cancel} message */
async function obey(message) {
  const { kind } = message
  if (kind === 'cancel') {
    end(message.job, {})
    return
  }
  const job = jobs.get(message.job) ?? { hasher: await createHasher(), position: 0 }
  jobs.set(message.job, job)
  try {
    const digest = advance(job, message)
    if (digest !== undefined) end(message.job, { digest })
  } catch (error) {
    // Of this file only: the others are hashed on.
    job.failure ??= error instanceof Error ? error.message : String(error)
    if (kind === 'digest') end(message.job, { failure: job.failure })
  }
}

/**
 * @param {number} job
 * @param {{ readonly digest?: string, readonly failure?: string }} result
 */
function end(job, result) {
  jobs.delete(job)
  parentPort?.postMessage({ job, ...result })
}

/**
 * @param {Job} job
 * @param {Advance} message
 */
function advance(job, { kind, fd, end }) {
  if (job.failure !== undefined) throw new Error(job.failure)
  while (job.position + PIECE < end) {
    read(fd, PIECE, job.position)
    job.hasher.piece(PIECE)
    job.position += PIECE
  }
  if (kind === 'advance') return undefined
  read(fd, end - job.position, job.position)
  return job.hasher.last(end - job.position)
}

/**
 * @param {number} fd
 * @param {number} length
 * @param {number} position
 */
function read(fd, length, position) {
  for (let done = 0; done < length; ) {
    const count = readSync(fd, bytes, INPUT + done, length - done, position + done)
    if (count === 0) throw new Error('the file has become shorter')
    done += count
  }
}

// One after the other, also where making a hasher takes its time.
let last = Promise.resolve()
parentPort?.on('message', (/** @type {Advance | Cancel} */ message) => {
  last = last.then(() => obey(message))
})
