/**
 * Worker entry: reads a zip archive that came, off the main thread, and hashes what is in it, as
 * programs of the reference protocol unpack it.
 *
 * Answers nothing for an archive that is damaged, or too large, or that is unpacked otherwise on
 * another system. Ends by itself, or is ended when nobody waits any more. Imports only plain
 * JavaScript of ours, so that it runs from the sources, too.
 * @module
 */

import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { createInflateRaw, inflateRawSync } from 'node:zlib'
import { groupHashOf } from '../../hashing/group-hash.js'
import {
  endLength,
  findDirectory,
  isEncrypted,
  LOCAL_BYTES,
  MAX_NAME_LENGTH,
  readEntries,
  startOf,
  unfit,
} from '../../lib/zip-directory.js'

/**
 * @typedef {import('./zip-task.ts').UnzipTask} UnzipTask
 * @typedef {import('./zip-task.ts').UnzipAnswer} UnzipAnswer
 * @typedef {import('../../hashing/group-hash.js').GroupEntry} GroupEntry
 * @typedef {import('../../lib/zip-directory.js').Packed} Packed
 * @typedef {import('../../lib/zip-directory.js').Entry} Entry
 */

/** Larger ones are not much faster, and hundreds of them wait to be collected. */
const BLOCK_BYTES = 32 * 1024

/** For less, a stream takes longer than all of the work. */
const MAX_AT_ONCE_BYTES = 128 * 1024

/** Node takes no smaller ones. */
const MIN_CHUNK_BYTES = 64

/** Compressors pack by less than this into more than it was: an eighth, and some bytes. */
const MOST_GROWTH = 1 / 8
const MOST_GROWTH_BYTES = 1024

const STORED = 0
const DEFLATED = 8

/** Windows takes the one for a slash, and no system takes the other. */
const UNUSUAL = /[\\\0]/

/** Nothing, as between two slashes; this folder; the one above. */
const UNUSUAL_SEGMENT = /^\.{0,2}$/

/** @param {UnzipTask} task @returns {Promise<UnzipAnswer>} */
async function run({ path, maxBytes, ...limits }) {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const { size } = fstatSync(fd)
    const entries = readDirectory(fd, size, limits.maxEntries)
    const packed = entries.reduce((sum, entry) => sum + entry.packed, 0)
    const unpacked = entries.reduce((sum, entry) => sum + entry.size, 0)
    // No byte is read twice then: entries that lie over each other cost nothing.
    if (packed > size || unpacked > maxBytes) throw unfit()
    const { folders, files } = whatIsPasted(entries, limits)
    /** @type {GroupEntry[]} */
    const pasted = folders.map((name) => ({ name }))
    for (const { name, ...file } of files) pasted.push({ name, file: await hashFile(fd, file) })
    return { groupHash: groupHashOf(pasted) }
  } finally {
    closeSync(fd)
  }
}

/**
 * @param {number} fd
 * @param {number} size
 * @param {number} maxEntries
 * @returns {readonly Entry[]}
 */
function readDirectory(fd, size, maxEntries) {
  const tail = endLength(size)
  const { start, length, count } = findDirectory(readAt(fd, size - tail, tail), maxEntries)
  return readEntries(readAt(fd, start, length), count)
}

/**
 * The files at the top, and the folders that have an entry of their own there, with all that is in
 * them: the program unpacks the rest too, but neither pastes nor hashes it.
 *
 * @param {readonly Entry[]} entries
 * @param {Pick<UnzipTask, 'maxEntries' | 'maxDepth' | 'maxNamesLength'>} limits Of files and
 *   folders: most folders have no entry.
 */
function whatIsPasted(entries, { maxEntries, maxDepth, maxNamesLength }) {
  const tops = new Set(entries.filter(({ isFolder }) => isFolder).map(({ name }) => name))
  const names = new Set()
  /** @type {Set<string>} */
  const folders = new Set()
  const files = []
  let namesLength = 0
  for (const entry of entries) {
    const { name, isFolder } = entry
    if (name.length > MAX_NAME_LENGTH || UNUSUAL.test(name) || names.has(name)) throw unfit()
    const segments = name.split('/')
    if (segments.some((segment) => UNUSUAL_SEGMENT.test(segment))) throw unfit()
    if (segments.length > (isFolder ? maxDepth : maxDepth + 1)) throw unfit()
    names.add(name)
    if (!isFolder) {
      files.push(entry)
      namesLength += name.length
    }
    let folder = isFolder ? name : parentOf(name)
    // The folders of a known one are known.
    while (folder !== '' && tops.has(segments[0] ?? '') && !folders.has(folder)) {
      folders.add(folder)
      namesLength += folder.length
      folder = parentOf(folder)
    }
    if (files.length + folders.size > maxEntries || namesLength > maxNamesLength) throw unfit()
  }
  if (files.some(({ name }) => folders.has(name))) throw unfit()
  const pasted = files.filter(
    ({ name }) => !name.includes('/') || tops.has(name.split('/')[0] ?? ''),
  )
  return { folders: [...folders], files: pasted }
}

/** @param {string} name Of what is at the top, it is empty. */
function parentOf(name) {
  return name.slice(0, Math.max(0, name.lastIndexOf('/')))
}

/** @param {number} fd @param {Packed} entry */
async function hashFile(fd, { flags, method, packed, size, offset }) {
  const isKnown = method === STORED || method === DEFLATED
  if (!isKnown || isEncrypted({ flags })) throw unfit()
  // Blocks of nothing take seconds, and their output has no end that could stop them.
  const mostPacked = method === STORED ? size : size * (1 + MOST_GROWTH) + MOST_GROWTH_BYTES
  if (packed > mostPacked) throw unfit()
  const start = startOf(readAt(fd, offset, LOCAL_BYTES), { offset })
  const sha256 = createHash('sha256')
  let seen = 0
  const take = async (/** @type {AsyncIterable<Buffer> | Iterable<Buffer>} */ chunks) => {
    for await (const chunk of chunks) {
      seen += chunk.length
      if (seen > size) throw unfit()
      sha256.update(chunk)
    }
  }
  if (method === STORED) await take(blocksOf(fd, start, packed))
  else if (Math.max(packed, size) <= MAX_AT_ONCE_BYTES) {
    // In one piece: Node joins smaller ones, in a copy.
    const options = { maxOutputLength: size + 1, chunkSize: Math.max(size + 1, MIN_CHUNK_BYTES) }
    await take([inflateRawSync(readAt(fd, start, packed), options)])
  } else {
    const inflate = createInflateRaw({ chunkSize: BLOCK_BYTES })
    await pipeline(blocksOf(fd, start, packed), inflate, take)
  }
  if (seen !== size) throw unfit()
  return { size, sha256: sha256.digest('hex') }
}

/** @param {number} fd @param {number} start @param {number} length */
function* blocksOf(fd, start, length) {
  for (let at = 0; at < length; at += BLOCK_BYTES) {
    yield readAt(fd, start + at, Math.min(BLOCK_BYTES, length - at))
  }
}

/** @param {number} fd @param {number} position @param {number} length */
function readAt(fd, position, length) {
  const bytes = Buffer.allocUnsafe(length)
  if (readSync(fd, bytes, 0, length, position) < length) throw unfit()
  return bytes
}

const answer = await run(workerData).catch((error) => {
  // Something is damaged, or longer than it says; `pipeline` has a code of its own for what lies
  // behind the end of packed bytes.
  const { code } = Object(error)
  if (/^(?:UNFIT|Z_DATA_ERROR|Z_BUF_ERROR|ERR_BUFFER_TOO_LARGE|ABORT_ERR)$/.test(code)) return {}
  throw error
})
parentPort?.postMessage(answer)
