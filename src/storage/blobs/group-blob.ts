/**
 * Several files as one zip archive: files of the user, which stay where they are, or blobs of ours,
 * which belong to the archive.
 * @module
 */

import { lstat, realpath, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { readWhole } from '../../lib/read-bytes.ts'
import { Semaphore } from '../../lib/semaphore.ts'
import { codeOf } from '../../lib/system-error.ts'
import { type Look, turnsAt } from '../../lib/user-files.ts'
import type { Digests, HashedBlob, OpenBlob } from '../../ports/blob.ts'
import {
  gone,
  isSameFile,
  lookAtOnce,
  openCopiedFile,
  readFileState,
  toFileState,
  type DiskBlob,
  type FileState,
} from './disk-blob.ts'
import { decodeGroupList, type GroupFile, type GroupList, type GroupMember } from './group-list.ts'

/** Files that are looked at side by side; more are not faster. */
const LOOKS_AT_ONCE = 4

/** A path without links of a blob of ours. */
export async function placeOf({ path }: Pick<DiskBlob, 'path'>): Promise<Buffer> {
  return Buffer.from(join(await realpath(dirname(path)), basename(path)))
}

/** The archive of several files, as a blob. */
export class GroupBlob implements HashedBlob {
  /** The list, as a blob of ours. */
  readonly list: DiskBlob
  /** The size of the archive in bytes. */
  readonly size: number
  /** The digests of the archive. */
  readonly digests: Digests
  /** The files, where they are blobs of ours: they go with the archive. */
  readonly members: readonly GroupMember[] | undefined
  readonly groupHash: string | undefined
  /** Whether the files were hashed in this run: numbers of devices may be others in the next. */
  readonly #isOfThisRun: boolean
  /** The list, in memory while somebody reads. */
  #loaded: Promise<GroupList> | undefined
  #readers = 0
  #isGivenUp = false

  constructor(
    fields: Pick<GroupBlob, 'list' | 'size' | 'digests'> &
      Partial<Pick<GroupBlob, 'members' | 'groupHash'>>,
    isOfThisRun: boolean,
  ) {
    this.list = fields.list
    this.size = fields.size
    this.digests = fields.digests
    this.members = fields.members
    this.groupHash = fields.groupHash
    this.#isOfThisRun = isOfThisRun
  }

  /** The name of the list in `blobs/`. */
  get ownName(): string | undefined {
    return this.list.ownName
  }

  get isOfUser(): boolean {
    return this.members === undefined
  }

  /** Opens the archive. Looks at every file, so that a download fails before it begins. */
  async open(): Promise<OpenBlob> {
    const list = await this.#hold()
    try {
      // Files that are copied together take their turns together.
      const look = this.isOfUser ? turnsAt(String(list.files[0]?.path)) : lookAtOnce
      await checkAll(list.files, look)
      return new GroupReader(list, look, () => this.#release())
    } catch (error) {
      this.#release()
      throw error
    }
  }

  async discard(): Promise<void> {
    this.#isGivenUp = true
    await this.list.discard()
    if (this.#readers === 0) await this.#discardMembers()
  }

  /** The names in `blobs/` of all that belongs to it. */
  get ownNames(): readonly string[] {
    const blobs = [this.list, ...(this.members ?? []).map(({ blob }) => blob)]
    return blobs.map(({ ownName }) => ownName).filter((name) => name !== undefined)
  }

  /** Checks that all bytes are there, and makes the list survive a power cut. */
  async sync(): Promise<void> {
    for (const { blob } of this.members ?? []) await blob.sync()
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
    if (this.#readers > 0) return
    this.#loaded = undefined
    // Whoever had it open when it was given up has read it to its end.
    if (this.#isGivenUp) void this.#discardMembers()
  }

  async #discardMembers(): Promise<void> {
    for (const { blob } of this.members ?? []) await blob.discard()
  }

  async #load(): Promise<GroupList> {
    const list = decodeGroupList(await readWhole(this.list))
    if (this.members !== undefined) return this.#locate(list, this.members)
    if (this.#isOfThisRun) return list
    const files = list.files.map((file) => {
      return { ...file, identity: { ...file.identity, dev: undefined } }
    })
    return { ...list, files }
  }

  /** Finds the files of the members where the data directory is now. */
  async #locate(list: GroupList, members: readonly GroupMember[]): Promise<GroupList> {
    const found = new Map<string, Pick<GroupFile, 'path' | 'identity'>>()
    for (const { blob } of members) {
      found.set(basename(blob.path), { path: await placeOf(blob), identity: blob.identity })
    }
    const files = list.files.map(({ path, start, identity: { size } }) => {
      const place = found.get(basename(String(path)))
      if (place?.identity.size !== size) throw new TypeError('it does not fit its files')
      return { ...place, start }
    })
    return { ...list, files }
  }
}

async function checkAll(files: readonly GroupFile[], look: Look): Promise<void> {
  // One iterator for all looks: each takes the next file.
  const queue = files.values()
  const lookAtNext = async (): Promise<void> => {
    for (const file of queue) {
      const stats = await look(() => lstat(file.path, { bigint: true })).catch((error: unknown) => {
        throw gone(`the system says ${codeOf(error)}`)
      })
      checkState(file, toFileState(stats))
    }
  }
  await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, lookAtNext))
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
  readonly #look: Look
  readonly #onClose: () => void
  /** Where the frame goes on at the start of each file. */
  readonly #framePositions: readonly number[]
  readonly #queue = new Semaphore(1)
  #opened: { readonly file: GroupFile; readonly handle: FileHandle } | undefined
  #isClosed = false

  /** @param onClose Called once. */
  constructor(list: GroupList, look: Look, onClose: () => void) {
    this.#list = list
    this.#look = look
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
    return this.#queue.run(() => this.#look(() => this.#read(target, position)))
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
