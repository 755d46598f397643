/**
 * Worker entry: derives Argon2id tags, one after the other.
 *
 * Node does it by itself since 24.7. Before, `argon2-kernel.wasm` does, and where WebAssembly has
 * no SIMD, `hash-wasm`, in twice the time. `hash-wasm` also takes over when the kernel does not
 * give a tag that is known; then the worker tells the other side why. JavaScript, because Node 20
 * starts no worker from TypeScript. Answers with the tag and never compares: the other side does,
 * in constant time.
 * @module
 */

import * as crypto from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'

/** A third of what other threads get of a processor, when all want it. */
const NICENESS = 5

const LOWEST_PRIORITY = 19

/** The priority to go back to: `nice` may have set it. @type {number | undefined} */
let ownPriority

/** The smallest module with an instruction of SIMD. */
const SIMD_MODULE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15,
  253, 98, 11,
])

/** A login but for the memory, which would take long. */
const KNOWN_JOB = {
  password: Buffer.from('correct horse battery staple'),
  salt: Buffer.from('clipgate-16bytes'),
  memoryKib: 64,
  passes: 3,
  parallelism: 4,
  tagLength: 32,
}

/** By the reference implementation in C (the `argon2` command of Debian 12). */
const KNOWN_TAG = 'cadb9c7bd45ef026af6562b51f2b2b04911f56bdb89a402dc164501920e74c03'

/** @typedef {import('./phc-string.ts').Argon2Job} Argon2Job */

/**
 * `node:crypto` since Node 24.7; the types of Node 20 do not know it.
 *
 * @typedef {object} NativeArgon2
 * @property {((algorithm: 'argon2id', parameters: {
 *   message: Uint8Array, nonce: Uint8Array, parallelism: number,
 *   tagLength: number, memory: number, passes: number,
 * }) => Uint8Array) | undefined} [argon2Sync]
 */

/** @type {typeof crypto & NativeArgon2} */
const { argon2Sync } = crypto

/** The types of Node 20 do not know it. @type {any} */
const { WebAssembly } = globalThis

/**
 * @typedef {(job: Argon2Job) => Uint8Array | Promise<Uint8Array>} Derive
 * @typedef {{ readonly isPatient: boolean }} Patience Whether many wait, so that requests go first.
 */

/** @type {Derive} */
const derive =
  argon2Sync === undefined
    ? (createCheckedDerive() ?? createPackageDerive())
    : createNativeDerive(argon2Sync)

parentPort?.on('message', async (/** @type {Argon2Job & Patience} */ job) => {
  if (job.isPatient) stepBack()
  parentPort?.postMessage(await derive(job))
})

function stepBack() {
  // There it is about the calling thread; elsewhere it would be about the whole program.
  if (process.platform !== 'linux') return
  try {
    ownPriority ??= getPriority()
    setPriority(Math.min(ownPriority + NICENESS, LOWEST_PRIORITY))
  } catch {
    // A sandbox may forbid it. It was a courtesy.
  }
}

/** @param {NonNullable<NativeArgon2['argon2Sync']>} argon2 @returns {Derive} */
function createNativeDerive(argon2) {
  return (job) =>
    argon2('argon2id', {
      message: job.password,
      nonce: job.salt,
      parallelism: job.parallelism,
      tagLength: job.tagLength,
      memory: job.memoryKib,
      passes: job.passes,
    })
}

/** @returns {Derive | undefined} None where WebAssembly has no SIMD, or the kernel is damaged. */
function createCheckedDerive() {
  if (!WebAssembly.validate(SIMD_MODULE)) return undefined
  try {
    const derive = createKernelDerive()
    const tag = Buffer.from(derive(KNOWN_JOB)).toString('hex')
    if (tag !== KNOWN_TAG) throw new Error('it gives a wrong tag')
    return derive
  } catch (error) {
    parentPort?.postMessage({ trouble: error instanceof Error ? error.message : String(error) })
    return undefined
  }
}

/** @returns {(job: Argon2Job) => Uint8Array} */
function createKernelDerive() {
  // `argon2-kernel.as` says what the kernel exports.
  const code = readFileSync(new URL('./argon2-kernel.wasm', import.meta.url))
  const module = new WebAssembly.Module(code)
  let memoryKib = 0
  /** @type {any} */
  let kernel
  return ({ password, salt, ...job }) => {
    // Memory only grows: jobs of another size get another instance, and only theirs is kept.
    if (job.memoryKib !== memoryKib) kernel = new WebAssembly.Instance(module).exports
    memoryKib = job.memoryKib
    kernel.reserve(password.length, salt.length, memoryKib)
    const bytes = new Uint8Array(kernel.memory.buffer)
    bytes.set(password, kernel.PASSWORD.value)
    bytes.set(salt, kernel.PASSWORD.value + password.length)
    const { passes, parallelism, tagLength } = job
    kernel.derive(password.length, salt.length, memoryKib, passes, parallelism, tagLength)
    const tag = bytes.subarray(kernel.TAG.value, kernel.TAG.value + tagLength)
    const copy = tag.slice()
    tag.fill(0)
    return copy
  }
}

/** @returns {Derive} */
function createPackageDerive() {
  const require = createRequire(import.meta.url)
  // All of the package is ten times as long.
  /** @type {Pick<typeof import('hash-wasm'), 'argon2id'>} */
  const { argon2id } = require('hash-wasm/dist/argon2.umd.min.js')
  return (job) =>
    argon2id({
      password: job.password,
      salt: job.salt,
      iterations: job.passes,
      parallelism: job.parallelism,
      memorySize: job.memoryKib,
      hashLength: job.tagLength,
      outputType: 'binary',
    })
}
