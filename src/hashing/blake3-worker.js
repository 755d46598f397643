/**
 * Worker entry: BLAKE3 of files, and both digests of long texts, off the main thread.
 *
 * Reads a file while it is being written, behind the writer, straight into the memory of
 * `blake3-kernel.wasm`: that costs less than handing the bytes over. Where WebAssembly has no SIMD,
 * `hash-wasm` does the same, at a third of the speed. It also takes over when the kernel does not
 * give a hash that is known; then the worker tells the other side why. Imports nothing of ours, so
 * that it runs from the sources and beside a bundle alike.
 * @module
 */

import { createHash } from 'node:crypto'
import { readFileSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parentPort } from 'node:worker_threads'

/**
 * @typedef {{
 *   readonly kind: 'advance' | 'digest',
 *   readonly job: number,
 *   readonly source: number | Uint8Array,
 *   readonly end: number,
 * }} Advance
 * The source is a file, or the bytes themselves.
 * @typedef {{ readonly kind: 'cancel', readonly job: number }} Cancel
 *
 * Hashes one file, whose bytes it is given in batches.
 * @typedef {{
 *   readonly batch: Uint8Array,
 *   update(position: number): void,
 *   digest(position: number, length: number): string,
 * }} Hash
 * @typedef {{ readonly hash: Hash, position: number, failure?: string }} Job
 */

/** The types of Node 20 do not know it. @type {any} */
const { WebAssembly } = globalThis

/** The smallest module with an instruction of SIMD. */
const SIMD_MODULE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15,
  253, 98, 11,
])

/** The longest official test vector: more than a batch, and made of whole and half trees. */
const KNOWN_BYTES = Buffer.alloc(
  102_400,
  Uint8Array.from({ length: 251 }, (_, index) => index),
)

const KNOWN_HASH = 'bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085'

/** @type {Map<number, Job>} */
const jobs = new Map()

const makeHash = (await loadCheckedKernel()) ?? (await loadPackage())

/** @param {Advance | Cancel} message */
function obey(message) {
  if (message.kind === 'cancel') return end(message.job, {})
  const job = jobs.get(message.job) ?? { hash: makeHash(), position: 0 }
  jobs.set(message.job, job)
  /** @type {string | undefined} */
  let digest
  try {
    if (job.failure === undefined) digest = advance(job, message)
  } catch (error) {
    // The hashing of this file only has failed: the others go on.
    job.failure = error instanceof Error ? error.message : String(error)
  }
  if (message.kind !== 'digest') return
  const { source } = message
  const ended = { digest, failure: job.failure }
  if (typeof source === 'number') return end(message.job, ended)
  end(message.job, { ...ended, sha256: sha256Of(source), bytes: source }, [source.buffer])
}

/**
 * Batches are whole but for the last one, which is not hashed before it is known to be the last.
 *
 * @param {Job} job
 * @param {Advance} message
 */
function advance(job, { kind, source, end }) {
  const { hash } = job
  const { batch } = hash
  while (end - job.position > batch.length) {
    fill(batch, source, job.position, batch.length)
    hash.update(job.position)
    job.position += batch.length
  }
  if (kind === 'advance') return undefined
  const length = end - job.position
  fill(batch, source, job.position, length)
  return hash.digest(job.position, length)
}

/**
 * @param {Uint8Array} batch
 * @param {number | Uint8Array} source
 * @param {number} position
 * @param {number} length
 */
function fill(batch, source, position, length) {
  if (typeof source !== 'number') return batch.set(source.subarray(position, position + length))
  for (let filled = 0; filled < length; ) {
    const count = readSync(source, batch, filled, length - filled, position + filled)
    if (count === 0) throw new Error('it has become shorter')
    filled += count
  }
}

/** @param {Uint8Array} bytes */
function sha256Of(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}

/**
 * @param {number} job
 * @param {{
 *   readonly digest?: string | undefined,
 *   readonly sha256?: string | undefined,
 *   readonly failure?: string | undefined,
 *   readonly bytes?: Uint8Array,
 * }} result
 * @param {any[]} [givenBack]
 */
function end(job, result, givenBack) {
  jobs.delete(job)
  parentPort?.postMessage({ job, ...result }, givenBack)
}

/** @returns {Promise<(() => Hash) | undefined>} nothing without SIMD, or with a damaged kernel. */
async function loadCheckedKernel() {
  if (!WebAssembly.validate(SIMD_MODULE)) return undefined
  try {
    const makeHash = await loadKernel()
    if (hashKnownBytes(makeHash()) !== KNOWN_HASH) throw new Error('it gives a wrong hash')
    return makeHash
  } catch (error) {
    parentPort?.postMessage({ trouble: error instanceof Error ? error.message : String(error) })
    return undefined
  }
}

/** @param {Hash} hash */
function hashKnownBytes(hash) {
  const { length } = hash.batch
  hash.batch.set(KNOWN_BYTES.subarray(0, length))
  hash.update(0)
  hash.batch.set(KNOWN_BYTES.subarray(length))
  return hash.digest(length, KNOWN_BYTES.length - length)
}

/**
 * Makes hashes that share one instance of the kernel: each keeps its stack, a kilobyte, and puts it
 * in place when it is another one's turn.
 *
 * @returns {Promise<() => Hash>}
 */
async function loadKernel() {
  // Its exports stand in `blake3-kernel.as`.
  const code = readFileSync(new URL('./blake3-kernel.wasm', import.meta.url))
  const { instance } = await WebAssembly.instantiate(code)
  const kernel = instance.exports
  const memory = kernel.memory.buffer
  const batch = new Uint8Array(memory, kernel.INPUT.value, kernel.BATCH_BYTES.value)
  const stack = new Uint8Array(memory, kernel.STACK.value, kernel.STACK_BYTES.value)
  /** @type {Uint8Array | undefined} */
  let inPlace
  return () => {
    const own = new Uint8Array(stack.length)
    const chunksBefore = (/** @type {number} */ position) => {
      if (inPlace !== own) {
        inPlace?.set(stack)
        stack.set(own)
        inPlace = own
      }
      return position / kernel.CHUNK_BYTES.value
    }
    return {
      batch,
      update: (position) => kernel.update(chunksBefore(position)),
      digest(position, length) {
        kernel.finish(chunksBefore(position), length)
        return Buffer.from(stack.subarray(0, 32)).toString('hex')
      },
    }
  }
}

/** @returns {Promise<() => Hash>} */
async function loadPackage() {
  const require = createRequire(import.meta.url)
  /** @type {typeof import('hash-wasm')} */
  const { createBLAKE3 } = require('hash-wasm/dist/blake3.umd.min.js')
  const hasher = await createBLAKE3()
  const batch = Buffer.allocUnsafeSlow(512 * 1024)
  return () => {
    let state = hasher.init().save()
    return {
      batch,
      update() {
        state = hasher.load(state).update(batch).save()
      },
      digest: (_position, length) => hasher.load(state).update(batch.subarray(0, length)).digest(),
    }
  }
}

parentPort?.on('message', obey)
