/**
 * Files of the user as one zip archive. They stay where they are; ours is only the list of them.
 *
 * @module
 */

import { lstat } from 'node:fs/promises'
import { codeOf } from '../../lib/system-error.ts'
import type { Digests, HashedBlob, OpenBlob } from '../../ports/blob.ts'
import { gone, isSameFile, toFileState, type DiskBlob } from '../disk-blob.ts'
import { decodeGroupList, type GroupFile, type GroupList } from './group-list.ts'
import { GroupReader } from './group-reader.ts'

/** Looked at side by side; more are not faster. */
const LOOKS_AT_ONCE = 4

export interface GroupBlobOptions {
  /** The list, as a blob of ours. */
  readonly list: DiskBlob
  /** Bytes of the archive. */
  readonly size: number
  /** Of the archive. */
  readonly digests: Digests
  /** Whether the files were hashed in this run: numbers of devices may be others in the next. */
  readonly isOfThisRun: boolean
}

export class GroupBlob implements HashedBlob {
  readonly list: DiskBlob
  readonly size: number
  readonly digests: Digests
  readonly #isOfThisRun: boolean
  /** In memory while somebody reads. */
  #loaded: Promise<GroupList> | undefined
  #readers = 0

  constructor({ list, size, digests, isOfThisRun }: GroupBlobOptions) {
    this.list = list
    this.size = size
    this.digests = digests
    this.#isOfThisRun = isOfThisRun
  }

  get modifiedAt(): number {
    return this.list.modifiedAt
  }

  /** Name of the file of ours. */
  get ownName(): string | undefined {
    return this.list.ownName
  }

  /** Looks at every file, so that a download fails before it begins. */
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

  /** As {@link DiskBlob.sync}. */
  async sync(): Promise<void> {
    await this.list.sync()
    const opened = await this.open()
    await opened.close()
  }

  async #hold(): Promise<GroupList> {
    if (this.list.isDiscarded) throw gone('they were discarded')
    this.#readers++
    try {
      return await (this.#loaded ??= this.#load())
    } catch (error) {
      this.#release()
      throw error
    }
  }

  #release(): void {
    if (--this.#readers === 0) this.#loaded = undefined
  }

  async #load(): Promise<GroupList> {
    const bytes = Buffer.allocUnsafeSlow(this.list.size)
    const opened = await this.list.open()
    try {
      await opened.read(bytes, 0)
    } finally {
      await opened.close()
    }
    const list = decodeGroupList(bytes)
    return this.#isOfThisRun ? list : { ...list, files: list.files.map(onAnyDevice) }
  }
}

function onAnyDevice(file: GroupFile): GroupFile {
  return { ...file, identity: { ...file.identity, dev: undefined } }
}

async function checkAll(files: readonly GroupFile[]): Promise<void> {
  const queue = files.values()
  await Promise.all(
    Array.from({ length: LOOKS_AT_ONCE }, async () => {
      // One iterator for all of them: each takes the next file.
      for (const file of queue) await checkOne(file)
    }),
  )
}

async function checkOne({ path, identity }: GroupFile): Promise<void> {
  const stats = await lstat(path, { bigint: true }).catch((error: unknown) => {
    throw gone(`the system says ${codeOf(error)}`)
  })
  const state = toFileState(stats)
  if (!state.isFile || !isSameFile(identity, state.identity)) throw gone('a file has changed')
}
