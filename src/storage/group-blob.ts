/** Files of the user, which stay where they are, as one zip archive. @module */

import { lstat, type FileHandle } from 'node:fs/promises'
import { arrayOf, decodeString, objectOf } from '../lib/decoder.ts'
import { defineJsonFile } from '../lib/json-file.ts'
import { readWhole } from '../lib/read-bytes.ts'
import { SerialQueue } from '../lib/serial-queue.ts'
import { codeOf } from '../lib/system-error.ts'
import type { Digests, HashedBlob, OpenBlob } from '../ports/blob.ts'
import {
  gone,
  isSameFile,
  openCopiedFile,
  readFileState,
  toFileState,
  type DiskBlob,
  type FileIdentity,
  type FileState,
} from './disk-blob.ts'
import { decodeCount, decodeDecimal, decodeNanoseconds } from './record-fields.ts'

/** Files that are looked at side by side; more are not faster. */
const LOOKS_AT_ONCE = 4

/** The archive of copied files, as a blob. */
export class GroupBlob implements HashedBlob {
  /** The list, as a blob of ours. */
  readonly list: DiskBlob
  /** The size of the archive in bytes. */
  readonly size: number
  /** The digests of the archive. */
  readonly digests: Digests
  /** Whether the files were hashed in this run: numbers of devices may be others in the next. */
  readonly #isOfThisRun: boolean
  /** The list, in memory while somebody reads. */
  #loaded: Promise<GroupList> | undefined
  #readers = 0

  constructor(fields: Pick<GroupBlob, 'list' | 'size' | 'digests'>, isOfThisRun: boolean) {
    this.list = fields.list
    this.size = fields.size
    this.digests = fields.digests
    this.#isOfThisRun = isOfThisRun
  }

  get modifiedAt(): number {
    return this.list.modifiedAt
  }

  /** The name of the list in `blobs/`. */
  get ownName(): string | undefined {
    return this.list.ownName
  }

  /** Opens the archive. Looks at every file, so that a download fails before it begins. */
  async open(): Promise<OpenBlob> {
    const list = await this.#hold()
    try {
      await checkAll(list.files)
      return new GroupReader(list, () => this.#release())
    } catch (error) {
      this.#release()
      throw error
    }
  }

  discard(): Promise<void> {
    return this.list.discard()
  }

  /** Checks that all bytes are there, and makes the list survive a power cut. */
  async sync(): Promise<void> {
    await this.list.sync()
    const opened = await this.open()
    await opened.close()
  }

  async #hold(): Promise<GroupList> {
    if (this.list.isDiscarded) throw gone('they were discarded')
    this.#readers += 1
    try {
      this.#loaded ??= this.#load()
      return await this.#loaded
    } catch (error) {
      this.#release()
      throw error
    }
  }

  #release(): void {
    this.#readers -= 1
    if (this.#readers === 0) this.#loaded = undefined
  }

  async #load(): Promise<GroupList> {
    const list = decodeGroupList(await readWhole(this.list))
    if (this.#isOfThisRun) return list
    const files = list.files.map((file) => {
      return { ...file, identity: { ...file.identity, dev: undefined } }
    })
    return { ...list, files }
  }
}

async function checkAll(files: readonly GroupFile[]): Promise<void> {
  // One iterator for all looks: each takes the next file.
  const queue = files.values()
  const look = async (): Promise<void> => {
    for (const file of queue) {
      const stats = await lstat(file.path, { bigint: true }).catch((error: unknown) => {
        throw gone(`the system says ${codeOf(error)}`)
      })
      checkState(file, toFileState(stats))
    }
  }
  await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, look))
}

function checkState({ identity: known }: GroupFile, { isFile, identity }: FileState): void {
  if (!isFile || !isSameFile(known, identity)) throw gone('a file has changed')
}

/**
 * Reads an archive that is nowhere: frame and files, put together as they are asked for.
 *
 * Reads from anywhere cost the same. One file is open at a time. Each file is compared with what it
 * was before and after every piece of it.
 */
class GroupReader implements OpenBlob {
  readonly #list: GroupList
  readonly #onClose: () => void
  /** Where the frame goes on at the start of each file. */
  readonly #framePositions: readonly number[]
  readonly #queue = new SerialQueue()
  #opened: { readonly file: GroupFile; readonly handle: FileHandle } | undefined
  #isClosed = false

  /** @param onClose Called once. */
  constructor(list: GroupList, onClose: () => void) {
    this.#list = list
    this.#onClose = onClose
    let inFiles = 0
    this.#framePositions = list.files.map(({ start, identity }) => {
      const position = start - inFiles
      inFiles += identity.size
      return position
    })
  }

  /** Reads that come at once are answered one after the other. */
  read(target: Uint8Array, position: number): Promise<number> {
    return this.#queue.run(() => this.#read(target, position))
  }

  close(): Promise<void> {
    return this.#queue.run(async () => {
      if (this.#isClosed) return
      this.#isClosed = true
      try {
        await this.#closeFile()
      } finally {
        this.#onClose()
      }
    })
  }

  async #read(target: Uint8Array, position: number): Promise<number> {
    const end = Math.min(position + target.length, this.#list.size)
    for (let at = position; at < end; ) {
      at += await this.#readPiece(target.subarray(at - position, end - position), at)
    }
    return Math.max(0, end - position)
  }

  /** Fills `target` up to where the frame or the file ends. */
  async #readPiece(target: Uint8Array, position: number): Promise<number> {
    const { files, frame } = this.#list
    const index = this.#lastFileAt(position)
    const file = files[index]
    const fileEnd = file === undefined ? 0 : file.start + file.identity.size
    if (file !== undefined && position < fileEnd) {
      const count = Math.min(target.length, fileEnd - position)
      await this.#readFile(file, target.subarray(0, count), position - file.start)
      return count
    }
    const from = position - fileEnd + (this.#framePositions[index] ?? 0)
    const piece = frame.subarray(from, this.#framePositions[index + 1]).subarray(0, target.length)
    target.set(piece)
    return piece.length
  }

  /** Index of the last file that begins there or before; -1 when none does. */
  #lastFileAt(position: number): number {
    const { files } = this.#list
    let low = 0
    let high = files.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((files[middle]?.start ?? Infinity) <= position) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  async #readFile(file: GroupFile, target: Uint8Array, position: number): Promise<void> {
    const handle = await this.#openFile(file)
    for (let at = 0; at < target.length; ) {
      const { bytesRead } = await handle.read(target, at, target.length - at, position + at)
      if (bytesRead === 0) throw gone('a file has become shorter')
      at += bytesRead
    }
    // Writing to a file in place is noticed before its bytes are handed out.
    checkState(file, await readFileState(handle))
    if (position + target.length === file.identity.size) await this.#closeFile()
  }

  async #openFile(file: GroupFile): Promise<FileHandle> {
    if (this.#opened?.file === file) return this.#opened.handle
    await this.#closeFile()
    const handle = await openCopiedFile(file.path)
    // Closed with this reader, also when it is not the file that it should be.
    this.#opened = { file, handle }
    checkState(file, await readFileState(handle))
    return handle
  }

  async #closeFile(): Promise<void> {
    const { handle } = this.#opened ?? {}
    this.#opened = undefined
    await handle?.close()
  }
}

/** A file that is not empty. */
export interface GroupFile {
  readonly path: Buffer
  /** The offset in the archive at which its bytes begin. */
  readonly start: number
  readonly identity: FileIdentity
}

/** The list of a Group. */
export interface GroupList {
  /** The size of the archive in bytes. */
  readonly size: number
  /** In the order of the archive. */
  readonly files: readonly GroupFile[]
  /** Headers, names, checksums, and the directory at the end of the archive. */
  readonly frame: Uint8Array
}

const LINE_FEED = 0x0a

const decodeHeader = objectOf({
  size: decodeCount,
  files: arrayOf(
    objectOf({
      path: decodeString,
      start: decodeCount,
      size: decodeCount,
      ino: decodeDecimal,
      dev: decodeDecimal,
      mtimeNs: decodeNanoseconds,
    }),
  ),
})

const HEADER = defineJsonFile({ version: 1, decode: decodeHeader })

/** The bytes of a list, as it is kept in `blobs/`. */
export function encodeGroupList({ size, files, frame }: GroupList): Buffer {
  const header = HEADER.format({
    size,
    files: files.map(({ path, start, identity: { size, ino, dev, mtimeNs } }) => ({
      path: path.toString('latin1'),
      start,
      size,
      ino: String(ino),
      dev: String(dev ?? 0n),
      mtimeNs: String(mtimeNs ?? 0n),
    })),
  })
  return Buffer.concat([Buffer.from(header), frame])
}

/** Reads the bytes of a list. @throws {TypeError} saying what is wrong, without quoting it. */
export function decodeGroupList(bytes: Uint8Array): GroupList {
  const end = bytes.indexOf(LINE_FEED)
  if (end === -1) throw new TypeError('it is cut off')
  const header = HEADER.parse(bytes.subarray(0, end))
  const files = header.files.map(({ path, start, size, ino, dev, mtimeNs }) => ({
    path: Buffer.from(path, 'latin1'),
    start,
    identity: { size, ino: BigInt(ino), dev: BigInt(dev), mtimeNs: BigInt(mtimeNs) },
  }))
  const list = { size: header.size, files, frame: bytes.subarray(end + 1) }
  if (!isWhole(list)) throw new TypeError('it does not fit together')
  return list
}

/** Whether frame and files fill the archive: each byte is in one place. */
export function isWhole({ size, files, frame }: GroupList): boolean {
  let end = 0
  let inFiles = 0
  for (const { start, identity } of files) {
    if (start < end || identity.size === 0) return false
    end = start + identity.size
    inFiles += identity.size
  }
  return end <= size && frame.length + inFiles === size
}
