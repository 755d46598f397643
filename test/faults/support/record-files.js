/**
 * Preloaded into a daemon: writes down, as lines of JSON at the end of the file at
 * `CLIPGATE_TEST_FILE_LOG`, each change of a file below `CLIPGATE_TEST_FILE_ROOT`, each sync, and
 * the head of each answer, in the order in which they happened. A sync also says how many lines
 * there were when it began: it vouches for those alone.
 * @module
 */

import { appendFileSync, existsSync, promises, readFileSync } from 'node:fs'
import { ServerResponse } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { dirname } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const LOG = process.env['CLIPGATE_TEST_FILE_LOG'] ?? ''
const ROOT = process.env['CLIPGATE_TEST_FILE_ROOT'] ?? ''

/** Which file a name stands for: each has a number of its own. */
const files = new Map()
let nextFile = 0
let lines = 0

/** What open handles are of. */
const handles = new WeakMap()

// Workers make no files, and have no room for the log of several runs.
if (isMainThread && existsSync(LOG)) readFileSync(LOG, 'utf8').trim().split('\n').forEach(readAgain)

/** An earlier run has made files, too. @param {string} line */
function readAgain(line) {
  const change = JSON.parse(line)
  lines += 1
  if ('file' in change) nextFile = Math.max(nextFile, change.file + 1)
  if (change.kind === 'create' || change.kind === 'link') files.set(change.path, change.file)
  else if (change.kind === 'unlink') files.delete(change.path)
  else if (change.kind === 'rename') moveName(change.from, change.path)
}

/** @param {string} from @param {string} to */
function moveName(from, to) {
  files.set(to, files.get(from))
  files.delete(from)
}

/** @param {object} change */
function record(change) {
  appendFileSync(LOG, `${JSON.stringify(change)}\n`)
  lines += 1
}

/** @param {unknown} path */
const isOurs = (path) => typeof path === 'string' && dirname(path).startsWith(ROOT)

const { open, rename, link, unlink, mkdir, rm } = promises

promises.open = async (path, flags, mode) => {
  const isNew = isOurs(path) && !existsSync(String(path))
  const handle = await open(path, flags, mode)
  if (!isOurs(path) && path !== ROOT) return handle
  const at = String(path)
  if ((await handle.stat()).isDirectory()) {
    handles.set(handle, { folder: at })
    return handle
  }
  if (isNew) {
    files.set(at, nextFile)
    record({ kind: 'create', path: at, file: nextFile })
    nextFile += 1
  }
  handles.set(handle, { file: files.get(at) })
  return handle
}

promises.rename = async (from, to) => {
  await rename(from, to)
  if (!isOurs(to)) return
  record({ kind: 'rename', from, path: to, file: files.get(from) })
  moveName(String(from), String(to))
}

promises.link = async (from, to) => {
  await link(from, to)
  if (!isOurs(to)) return
  files.set(to, files.get(from))
  record({ kind: 'link', path: to, file: files.get(to) })
}

promises.unlink = async (path) => {
  await unlink(path)
  noteRemoval(path)
}

promises.rm = async (path, options) => {
  await rm(path, options)
  if (files.has(path)) noteRemoval(path)
}

/** @param {unknown} path */
function noteRemoval(path) {
  if (!isOurs(path)) return
  record({ kind: 'unlink', path, file: files.get(path) })
  files.delete(path)
}

Object.assign(promises, {
  /** @param {string} path @param {number} mode */
  mkdir: async (path, mode) => {
    await mkdir(path, mode)
    if (isOurs(path)) record({ kind: 'mkdir', path })
  },
})

const probe = await open(LOG, 'a')
const FileHandle = Object.getPrototypeOf(probe)
await probe.close()
const { writev, writeFile, sync, datasync } = FileHandle

/** @param {object} handle @param {Buffer} bytes @param {number} at */
function noteWrite(handle, bytes, at) {
  const file = handles.get(handle)?.file
  if (file !== undefined) record({ kind: 'write', file, at, bytes: bytes.toString('base64') })
}

/** @param {Uint8Array[]} buffers @param {number} position */
FileHandle.writev = async function (buffers, position) {
  const written = await writev.call(this, buffers, position)
  noteWrite(this, Buffer.concat(buffers).subarray(0, written.bytesWritten), position)
  return written
}

/** Where the next piece of a file begins. @type {WeakMap<object, number>} */
const ends = new WeakMap()

/** @param {string | Uint8Array} content */
FileHandle.writeFile = async function (content) {
  await writeFile.call(this, content)
  const at = ends.get(this) ?? 0
  const bytes = Buffer.from(content)
  ends.set(this, at + bytes.length)
  noteWrite(this, bytes, at)
}

/** @param {(this: object) => Promise<void>} call */
function recorded(call) {
  /** @this {object} */
  return async function () {
    const since = lines
    await call.call(this)
    const { file, folder } = handles.get(this) ?? {}
    if (file !== undefined || folder !== undefined) record({ kind: 'sync', file, folder, since })
  }
}

FileHandle.sync = recorded(sync)
FileHandle.datasync = recorded(datasync)

const { writeHead } = ServerResponse.prototype

Object.assign(ServerResponse.prototype, {
  /** @this {ServerResponse} @param {Parameters<typeof writeHead>} given */
  writeHead(...given) {
    record({ kind: 'answer', method: this.req.method, url: this.req.url, status: given[0] })
    return writeHead.apply(this, given)
  },
})

syncBuiltinESMExports()
