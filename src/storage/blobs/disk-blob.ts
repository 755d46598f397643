/** Bytes in a file: one of ours, or one of the user that stays where it is. @module */

import { constants, type BigIntStats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { DomainError } from '../../core/domain-error.ts'
import { codeOf, isShortage } from '../../lib/system-error.ts'
import { type Look, turnsAt } from '../../lib/user-files.ts'
import type { Digests, HashedBlob, OpenBlob } from '../../ports/blob.ts'
import { isOpenedAt } from './without-links.ts'

/** Does not wait for the other end of a pipe. */
const READ_FLAGS: number = constants.O_RDONLY | constants.O_NONBLOCK

/** Windows syncs only what is open for writing. */
const SYNC_FLAGS: number = constants.O_RDWR | constants.O_NONBLOCK

/** The state that tells whether a file has changed. `undefined` is not compared. */
export interface FileIdentity {
  readonly size: number
  readonly ino: bigint
  /** On some machines, another number after a restart. */
  readonly dev: bigint | undefined
  /** Compared for files of the user only: others may write those in place. */
  readonly mtimeNs: bigint | undefined
}

/** A file as it is now. */
export interface FileState {
  readonly isFile: boolean
  readonly identity: FileIdentity & { readonly mtimeNs: bigint }
  /** Unix milliseconds. */
  readonly modifiedAt: number
}

type DiskBlobFields = Pick<DiskBlob, 'ownName' | 'path' | 'identity' | 'digests' | 'modifiedAt'>

/** The bytes of one file. */
export class DiskBlob implements HashedBlob {
  /** The name in `blobs/`; `undefined` for a file of the user. */
  readonly ownName: string | undefined
  readonly path: string
  readonly identity: FileIdentity
  readonly digests: Digests
  readonly modifiedAt: number
  readonly #remove: () => Promise<void>
  isDiscarded = false

  /** @param remove Removes the file, where it is ours. */
  constructor(fields: DiskBlobFields, remove: () => Promise<void> = async () => {}) {
    this.ownName = fields.ownName
    this.path = fields.path
    this.identity = fields.identity
    this.digests = fields.digests
    this.modifiedAt = fields.modifiedAt
    this.#remove = remove
  }

  get size(): number {
    return this.identity.size
  }

  get isOfUser(): boolean {
    return this.ownName === undefined
  }

  async open(): Promise<OpenBlob> {
    const look = this.isOfUser ? turnsAt(this.path) : lookAtOnce
    const file = await look(() => this.#openFile(READ_FLAGS))
    return {
      read: (target, position) => look(() => this.#read(file, target, position)),
      close: () => file.close(),
    }
  }

  async discard(): Promise<void> {
    if (this.isDiscarded) return
    this.isDiscarded = true
    if (!this.isOfUser) await this.#remove()
  }

  /**
   * Checks that the bytes are there, and makes those of ours survive a power cut; the name of the
   * file does only when its folder is synced as well.
   *
   * @throws {DomainError} `BLOB_GONE`.
   */
  async sync(): Promise<void> {
    if (this.isOfUser) return (await this.open()).close()
    const file = await this.#openFile(SYNC_FLAGS)
    try {
      await file.datasync()
    } finally {
      await file.close()
    }
  }

  async #openFile(flags: number): Promise<FileHandle> {
    if (this.isDiscarded) throw gone('they were discarded')
    const open = this.isOfUser ? openUserFile : openOwnBlob
    const file = await open(this.path, flags)
    try {
      await this.#check(file)
      return file
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async #check(file: FileHandle): Promise<void> {
    const { isFile, identity } = await readFileState(file)
    if (!isFile || !isSameFile(this.identity, identity)) throw gone('the file has changed')
  }

  async #read(file: FileHandle, target: Uint8Array, position: number): Promise<number> {
    const end = Math.min(position + target.length, this.size)
    for (let at = position; at < end; ) {
      const { bytesRead } = await file.read(target, at - position, end - at, at)
      if (bytesRead === 0) throw gone('the file has become shorter')
      at += bytesRead
    }
    // Writing to a file of the user in place is noticed before its bytes are handed out.
    if (this.isOfUser) await this.#check(file)
    return Math.max(0, end - position)
  }
}

/** Looks at a file of ours. */
export const lookAtOnce: Look = (look) => look()

/** Opens a file in a folder of the user, but through no link. @throws {DomainError} `BLOB_GONE`. */
export async function openCopiedFile(path: Buffer): Promise<FileHandle> {
  const file = await openUserFile(path, READ_FLAGS | constants.O_NOFOLLOW)
  try {
    if (!(await isOpenedAt(file, path))) throw gone('a link leads to the file')
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/** The failure of reading bytes. It has no path, which may tell what was copied. */
export function gone(reason: string): DomainError {
  return new DomainError('BLOB_GONE', `Cannot read the bytes: ${reason}`)
}

async function openOwnBlob(path: string, flags: number): Promise<FileHandle> {
  try {
    // Among our files there are no links.
    return await open(path, flags | constants.O_NOFOLLOW)
  } catch (error) {
    const code = codeOf(error)
    // A disk that is broken or read-only says nothing about the bytes.
    if (code === 'ENOENT' || code === 'ELOOP') throw gone(`the system says ${code}`)
    throw error
  }
}

/** Opens a file of the user for reading. @throws {DomainError} `BLOB_GONE`. */
export async function openUserFile(
  path: string | Buffer,
  flags: number = READ_FLAGS,
): Promise<FileHandle> {
  try {
    return await open(path, flags)
  } catch (error) {
    if (isShortage(error)) throw error
    throw gone(`the system says ${codeOf(error)}`)
  }
}

/** Looks at an open file. */
export async function readFileState(file: FileHandle): Promise<FileState> {
  return toFileState(await file.stat({ bigint: true }))
}

/** The state of a file that the system described. */
export function toFileState(stats: BigIntStats): FileState {
  const { ino, dev, mtimeNs } = stats
  return {
    isFile: stats.isFile(),
    identity: { size: Number(stats.size), ino, dev, mtimeNs },
    modifiedAt: Number(stats.mtimeMs),
  }
}

/** Whether `actual` is what is known of the file. */
export function isSameFile(known: FileIdentity, actual: FileIdentity): boolean {
  return (
    known.size === actual.size &&
    known.ino === actual.ino &&
    (known.dev === undefined || known.dev === actual.dev) &&
    (known.mtimeNs === undefined || known.mtimeNs === actual.mtimeNs)
  )
}
