/**
 * Worker entry: makes the zip archive of copied files once, off the main thread, to hash it.
 *
 * Keeps no byte of the files. What it hands back is the frame of the archive, where the bytes of
 * each file belong in it, and its digests. Ends by itself, or is ended when nobody waits any more.
 * Imports only plain JavaScript of ours, so that it runs from the sources, too.
 * @module
 */

import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import { parentPort, workerData } from 'node:worker_threads'
import { groupHashOf } from '../../hashing/group-hash.js'

/**
 * @typedef {import('./zip-task.ts').ZipTask} ZipTask
 * @typedef {import('./zip-task.ts').ZipAnswer} ZipAnswer
 * @typedef {import('./zip-task.ts').ZippedFile} ZippedFile
 * @typedef {Pick<ZippedFile, 'size' | 'ino' | 'dev' | 'mtimeNs'>} Identity
 * @typedef {{ identity: Identity, modifiedAt: number, mode: number }} State
 * @typedef {{ path: Buffer, name: string, index: number, start: number, seen: number }} Place
 * @typedef {{ sha256: import('node:crypto').Hash }} Hashed
 * @typedef {State & Place & Hashed} Source
 */

/** Larger ones are not faster. */
const BLOCK_BYTES = 128 * 1024

/** No link in the last place, and no waiting for the other end of a pipe. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Only Linux says where an open file is. */
const IS_LINUX = process.platform === 'linux' || process.platform === 'android'

/** Rights, without those that make a program run as somebody else. */
const RIGHTS = 0o777
const REGULAR_FILE = 0o100000
const FOLDER = 0o040000

/** Unix milliseconds; the format has 32 bits for seconds. */
const LAST_TIME = 0x7fffffff * 1000

const require = createRequire(import.meta.url)
/** @type {import('./zip-task.ts').ZipLibrary} */
const { ZipFile } = require('yazl')
/** @type {typeof import('hash-wasm')} */
const { createBLAKE3 } = require('hash-wasm/dist/blake3.umd.min.js')

/** @returns {Promise<ZipAnswer>} */
async function run() {
  /** @type {ZipTask} */
  const { files, folders, maxBytes } = workerData
  const sources = files.map(toSource).filter((source) => source !== undefined)
  const unreadable = files.length - sources.length
  if (sources.length + folders.length === 0) return { unreadable }

  const zip = new ZipFile()
  const blake3 = (await createBLAKE3()).init()
  const sha256 = createHash('sha256')
  /** @type {Buffer[]} */
  const frame = []
  let size = 0
  const done = new Promise((resolve, reject) => {
    zip.on('error', reject)
    zip.outputStream.on('end', resolve)
    zip.outputStream.on('data', (/** @type {Buffer} */ chunk) => {
      sha256.update(chunk)
      blake3.update(chunk)
      // Chunks pass through as the objects they are: all others are frame.
      const sent = underWay.get(chunk)
      if (sent === undefined) frame.push(chunk)
      else arrived(sent, size)
      size += chunk.length
      if (size > maxBytes) {
        const problem = `Cannot share several files: more than ${maxBytes} bytes`
        reject(refusal('GROUP_TOO_LARGE', problem))
      }
    })
    // The entries of folders are written at once, and each calls itself for the next one: behind a
    // file, the stack would end at some thousands.
    for (const folder of folders) zip.addEmptyDirectory(folder.name, optionsOf(folder, FOLDER))
    for (const source of sources) {
      const { size } = source.identity
      zip.addReadStreamLazy(
        source.name,
        { ...optionsOf(source, REGULAR_FILE), compress: false, size },
        (callback) => callback(undefined, openSource(source, reject)),
      )
    }
    zip.end()
  })
  await done

  if (sources.some(({ seen, identity }) => seen !== identity.size)) {
    throw new Error('Cannot tell the bytes of the files from the rest of the archive')
  }
  const digests = { sha256: sha256.digest('hex'), blake3: blake3.digest('hex') }
  const zipped = sources
    .map(({ index, start, identity }) => ({ index, start, ...identity }))
    .filter((file) => file.size > 0)
  const groupHash = groupHashOf([
    ...folders.map(({ name }) => ({ name })),
    ...sources.map(({ name, seen, sha256 }) => ({
      name,
      file: { size: seen, sha256: sha256.digest('hex') },
    })),
  ])
  return {
    unreadable,
    archive: { size, frame: Buffer.concat(frame), files: zipped, digests, groupHash },
  }
}

/**
 * Chunks on their way through the archive, and the blocks that they are in.
 *
 * @type {WeakMap<Buffer, { source: Source, block: Buffer, count: number }>}
 */
const underWay = new WeakMap()

/** @type {Buffer[]} */
const freeBlocks = []

/** @param {{ source: Source, block: Buffer, count: number }} sent @param {number} position */
function arrived({ source, block, count }, position) {
  if (source.seen === 0) source.start = position
  if (source.start + source.seen !== position) throw new Error('The archive mixes its files')
  source.seen += count
  source.sha256.update(block.subarray(0, count))
  freeBlocks.push(block)
}

/**
 * `undefined` for what cannot be read, or is no file any more.
 *
 * @param {ZipTask['files'][number]} file
 * @param {number} index
 * @returns {Source | undefined}
 */
function toSource({ path: bytes, name }, index) {
  const path = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const fd = open(path)
  if (fd === undefined) return undefined
  const state = readState(fd)
  closeSync(fd)
  return state && { path, name, index, start: 0, seen: 0, sha256: createHash('sha256'), ...state }
}

/** @param {Buffer} path With no link on the way to it: see `without-links.ts`. */
function open(path) {
  try {
    const fd = openSync(path, READ_FLAGS)
    const place = IS_LINUX ? readlinkSync(`/proc/self/fd/${fd}`, { encoding: 'buffer' }) : path
    if (path.equals(place)) return fd
    closeSync(fd)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    // No descriptor is left, which says nothing about the file.
    if (code === 'EMFILE' || code === 'ENFILE') throw error
  }
  return undefined
}

/** @param {Source} source @param {(error: unknown) => void} fail */
function openSource(source, fail) {
  /** @type {number | undefined} */
  let fd
  let position = 0
  return new Readable({
    highWaterMark: BLOCK_BYTES,
    read() {
      try {
        fd ??= open(source.path)
        if (fd === undefined) throw gone()
        const chunk = position < source.identity.size ? readChunk(fd, source, position) : undefined
        // The state is compared before the first byte and behind the last one.
        if (position === 0 || chunk === undefined) checkSame(source, readState(fd))
        position += chunk?.length ?? 0
        this.push(chunk ?? null)
      } catch (error) {
        fail(error)
      }
    },
    destroy(error, callback) {
      if (fd !== undefined) closeSync(fd)
      callback(error)
    },
  })
}

/** @param {number} fd @param {Source} source @param {number} position */
function readChunk(fd, source, position) {
  const length = Math.min(BLOCK_BYTES, source.identity.size - position)
  const block = freeBlocks.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES)
  const count = readSync(fd, block, 0, length, position)
  if (count === 0) throw gone()
  const chunk = block.subarray(0, count)
  underWay.set(chunk, { source, block, count })
  return chunk
}

/** @param {number} fd */
function readState(fd) {
  const stats = fstatSync(fd, { bigint: true })
  if (!stats.isFile()) return undefined
  const { ino, dev, mtimeNs } = stats
  return {
    identity: { size: Number(stats.size), ino, dev, mtimeNs },
    modifiedAt: Number(stats.mtimeMs),
    mode: Number(stats.mode),
  }
}

/** @param {State} before @param {State | undefined} now */
function checkSame({ identity: a }, now) {
  const b = now?.identity
  const isSame = a.size === b?.size && a.ino === b.ino && a.dev === b.dev && a.mtimeNs === b.mtimeNs
  if (!isSame) throw gone()
}

/** @param {{ readonly modifiedAt: number, readonly mode: number }} state @param {number} kind */
function optionsOf({ modifiedAt, mode }, kind) {
  // The package fails on times before 1970, and knows none behind 2038.
  const time = Math.max(0, Math.min(modifiedAt, LAST_TIME))
  return { mtime: new Date(time), mode: kind | (mode & RIGHTS) }
}

function gone() {
  return refusal('BLOB_GONE', 'Cannot read the bytes: a file changed meanwhile')
}

/** @param {'BLOB_GONE' | 'GROUP_TOO_LARGE'} code @param {string} message */
function refusal(code, message) {
  return Object.assign(new Error(message), { failure: { code, message } })
}

const answer = await run().catch((error) => {
  if (error instanceof Error && 'failure' in error) return { unreadable: 0, failure: error.failure }
  throw error
})
parentPort?.postMessage(answer)
