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
import { parentPort } from 'node:worker_threads'

/**
 * @typedef {{
 *   readonly kind: 'advance' | 'digest',
 *   readonly job: number,
 *   readonly fd: number,
 *   readonly end: number,
 * }} Advance
 * @typedef {{ readonly kind: 'cancel', readonly job: number }} Cancel
 * @typedef {{
 *   readonly hasher: import('hash-wasm').IHasher,
 *   position: number,
 *   failure?: string,
 * }} Job
 */

const PIECE_BYTES = 512 * 1024

const require = createRequire(import.meta.url)
/** @type {typeof import('hash-wasm')} */
const { createBLAKE3 } = require('hash-wasm')

const piece = Buffer.allocUnsafeSlow(PIECE_BYTES)

/** @type {Map<number, Job>} */
const jobs = new Map()

/** @param {Advance | Cancel} message */
async function obey(message) {
  if (message.kind === 'cancel') {
    end(message.job, {})
    return
  }
  const job = jobs.get(message.job) ?? { hasher: (await createBLAKE3()).init(), position: 0 }
  jobs.set(message.job, job)
  try {
    if (job.failure === undefined) advance(job, message)
  } catch (error) {
    // Of this file only: the others are hashed on.
    job.failure = error instanceof Error ? error.message : String(error)
  }
  if (message.kind === 'advance') return
  end(message.job, job.failure === undefined ? { digest: job.hasher.digest() } : job)
}

/**
 * @param {Job} job
 * @param {Advance} message
 */
function advance(job, { fd, end }) {
  while (job.position < end) {
    const length = Math.min(PIECE_BYTES, end - job.position)
    const count = readSync(fd, piece, 0, length, job.position)
    if (count === 0) throw new Error('it has become shorter')
    job.hasher.update(piece.subarray(0, count))
    job.position += count
  }
}

/**
 * @param {number} job
 * @param {{ readonly digest?: string, readonly failure?: string }} result
 */
function end(job, { digest, failure }) {
  jobs.delete(job)
  parentPort?.postMessage({ job, digest, failure })
}

// One after the other, although making a hasher takes its time.
let last = Promise.resolve()
parentPort?.on('message', (/** @type {Advance | Cancel} */ message) => {
  last = last.then(() => obey(message))
})
