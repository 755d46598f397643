/**
 * Blobs as files of random names in one folder. Bytes go from the sender to the disk through a few
 * blocks of memory, and are hashed on the way.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import { readdir, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { MAX_FILE_BYTES } from '../core/limits.ts'
import { digestsOf } from '../hashing/content-id.ts'
import type { FileHasher } from '../hashing/file-hasher.ts'
import { createPrivateFile, syncFolder } from '../lib/atomic-file.ts'
import { only } from '../lib/only.ts'
import { Semaphore } from '../lib/semaphore.ts'
import { codeOf } from '../lib/system-error.ts'
import type { BlobStore, BytesToReceive, CopiedGroup, Digests } from '../ports/blob.ts'
import type { Logger } from '../ports/logger.ts'
import { firstStep, type Allowance } from './allowance.ts'
import { BlobWriter, type WriterPool } from './blob-writer.ts'
import { DiskBlob, gone, openUserFile } from './disk-blob.ts'
import { isDiskFailure, toDomainError } from './disk-errors.ts'
import type { DiskSpace } from './disk-space.ts'
import { isSameFile, readFileState, type FileIdentity, type FileState } from './file-identity.ts'
import { adoptGroup } from './group/adopt-group.ts'
import { GroupBlob } from './group/group-blob.ts'
import { decodeGroupList } from './group/group-list.ts'
import { hashFile } from './hash-file.ts'
import { openOwnFile } from './own-files.ts'
import { receiveStream, tooLarge } from './receive-stream.ts'

const BLOB_NAME = /^[0-9a-f]{32}$/

/** Of all uploads together: more are not faster, and would leave no thread for other files. */
const MAX_WRITES = 2

export interface DiskBlobStoreOptions {
  readonly folder: string
  readonly space: DiskSpace
  readonly hasher: FileHasher
  readonly logger: Logger
  /** The largest archive of copied files; by default the largest file. */
  readonly maxGroupBytes?: number
}

/** What is known of a blob from before a restart. */
export interface KnownBlob {
  readonly size: number
  readonly digests: Digests
  /** A power cut may have left other bytes in a file of the right size. */
  readonly mayBeTorn?: boolean
}

export class DiskBlobStore implements BlobStore {
  readonly #folder: string
  readonly #space: DiskSpace
  readonly #hasher: FileHasher
  readonly #logger: Logger
  readonly #maxGroupBytes: number
  readonly #synced = new WeakSet<DiskBlob | GroupBlob>()
  readonly #pool: WriterPool = {
    held: 0,
    gathering: new Set(),
    isSyncing: false,
    writes: new Semaphore(MAX_WRITES),
  }

  constructor(options: DiskBlobStoreOptions) {
    const { folder, space, hasher, logger, maxGroupBytes = MAX_FILE_BYTES } = options
    this.#folder = folder
    this.#space = space
    this.#hasher = hasher
    this.#logger = logger
    this.#maxGroupBytes = maxGroupBytes
  }

  /** @param allowance Asked instead of the disk, by whoever has asked the disk and more. */
  async receive(
    bytes: AsyncIterable<Uint8Array>,
    expected: BytesToReceive,
    allowance?: Allowance,
  ): Promise<DiskBlob> {
    const { declaredSize, maxBytes } = expected
    if ((declaredSize ?? 0) > maxBytes) throw tooLarge(maxBytes)
    const room = allowance ?? (await this.#allow(declaredSize))
    try {
      const blob = await this.#receive(bytes, expected, room)
      this.#space.hadRoom(blob.size)
      return blob
    } catch (error) {
      // Nobody knows how much it would have taken: the next upload tells.
      if (isDiskFailure(error)) this.#space.ranOut(0)
      throw error
    } finally {
      if (allowance === undefined) room.release()
    }
  }

  async adopt(path: string, signal: AbortSignal): Promise<DiskBlob> {
    signal.throwIfAborted()
    const file = await openUserFile(path)
    try {
      const before = await readFileState(file)
      if (!before.isFile) throw gone('it is not a regular file')
      const digests = await hashFile(file, this.#hasher, { size: before.identity.size, signal })
      const after = await readFileState(file)
      if (!isSameFile(before.identity, after.identity)) throw gone('the file changed meanwhile')
      return this.adopted(path, after.identity, digests, after.modifiedAt)
    } finally {
      await file.close()
    }
  }

  async adoptGroup(paths: readonly string[], signal: AbortSignal): Promise<CopiedGroup> {
    const keep = (bytes: Uint8Array): Promise<DiskBlob> => {
      return this.receive(only(bytes), { declaredSize: bytes.length, maxBytes: bytes.length })
    }
    return adoptGroup(paths, { signal, maxBytes: this.#maxGroupBytes, keep })
  }

  /** A blob over a file of the user that was hashed some time ago. */
  adopted(path: string, identity: FileIdentity, digests: Digests, modifiedAt: number): DiskBlob {
    const file = { source: { kind: 'user' }, path, identity, digests, modifiedAt } as const
    return new DiskBlob({ ...file, remove: async () => undefined })
  }

  /**
   * A blob of ours from before a restart; `undefined` when it is not there, or not whole.
   *
   * @throws {DomainError} `DATA_DIRECTORY_UNUSABLE` when it is not one of ours any more.
   */
  async restore(name: string, known: KnownBlob): Promise<DiskBlob | undefined> {
    const { size, digests, mayBeTorn = false } = known
    const file = await openOwnFile(join(this.#folder, name))
    if (file === undefined) return undefined
    try {
      const state = await readFileState(file)
      if (state.identity.size !== size) return undefined
      const found = mayBeTorn ? await hashFile(file, this.#hasher, { size }) : digests
      return found.sha256 === digests.sha256 ? this.#own(name, state, digests) : undefined
    } finally {
      await file.close()
    }
  }

  /**
   * A Group from before a restart; `undefined` when its list is not there.
   *
   * @throws {TypeError} when the list is damaged, saying how.
   * @throws {DomainError} as {@link restore}.
   */
  async restoreGroup(name: string, group: KnownBlob): Promise<GroupBlob | undefined> {
    const file = await openOwnFile(join(this.#folder, name))
    if (file === undefined) return undefined
    try {
      const bytes = await file.readFile()
      if (decodeGroupList(bytes).size !== group.size) throw new TypeError('it is of something else')
      const list = this.#own(name, await readFileState(file), await digestsOf(bytes))
      return new GroupBlob({ ...group, list, isOfThisRun: false })
    } finally {
      await file.close()
    }
  }

  /**
   * Makes a blob survive a power cut. One that does already is only looked at.
   *
   * @throws {DomainError} `BLOB_GONE`; `NO_SPACE`.
   */
  async sync(blob: DiskBlob | GroupBlob): Promise<void> {
    try {
      if (this.#synced.has(blob)) return await (await blob.open()).close()
      await blob.sync()
      if (blob.ownName !== undefined) await syncFolder(this.#folder)
      this.#synced.add(blob)
    } catch (error) {
      throw toDomainError(error, 'Cannot keep the bytes')
    }
  }

  /** Removes the files of ours that are not in `keep`; what is foreign stays. */
  async sweep(keep: ReadonlySet<string>): Promise<void> {
    const entries = await readdir(this.#folder, { withFileTypes: true })
    for (const entry of entries) {
      const isOurs = entry.isFile() && BLOB_NAME.test(entry.name)
      if (isOurs && !keep.has(entry.name)) await this.#remove(join(this.#folder, entry.name))
    }
  }

  async #allow(declaredSize: number | undefined): Promise<Allowance> {
    await this.#space.check(declaredSize ?? 0)
    return this.#space.allow(firstStep(declaredSize), declaredSize)
  }

  async #receive(
    bytes: AsyncIterable<Uint8Array>,
    expected: BytesToReceive,
    allowance: Allowance,
  ): Promise<DiskBlob> {
    const name = randomBytes(16).toString('hex')
    const path = join(this.#folder, name)
    const file = await create(path)
    try {
      const writer = new BlobWriter({
        file,
        hash: this.#hasher.start(file),
        pool: this.#pool,
        onWritten: (count) => allowance.wrote(count),
      })
      const digests = await receiveStream(bytes, writer, expected, allowance)
      return this.#own(name, await readFileState(file), digests)
    } catch (error) {
      await this.#remove(path)
      throw error
    } finally {
      await file.close()
    }
  }

  #own(name: string, { identity, modifiedAt }: FileState, digests: Digests): DiskBlob {
    return new DiskBlob({
      source: { kind: 'own', name },
      path: join(this.#folder, name),
      // A copy of the data directory has other times, and nobody writes into our files.
      identity: { ...identity, mtimeNs: undefined },
      digests,
      modifiedAt,
      remove: (path) => this.#remove(path),
    })
  }

  /** What cannot be removed now is swept at the next start. */
  async #remove(path: string): Promise<void> {
    try {
      await unlink(path)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ENOENT') return
      this.#logger.warn('Cannot remove bytes that nobody needs', { path, code })
    }
  }
}

async function create(path: string): Promise<FileHandle> {
  try {
    return await createPrivateFile(path)
  } catch (error) {
    throw toDomainError(error, 'Cannot keep the upload')
  }
}
