/**
 * Blobs as files of random names in one folder. Bytes go from the sender to the disk through a few
 * blocks of memory, and are hashed on the way.
 * @module
 */

import { readdir, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { MIB } from '../../core/limits.ts'
import { digestsOf, type FileHasher } from '../../hashing/file-hasher.ts'
import { createPrivateFile, syncFolder } from '../../lib/atomic-file.ts'
import { describeFailure } from '../../lib/describe-failure.ts'
import type { Clock } from '../../lib/clock.ts'
import { MemoryTurn } from '../../lib/memory-turn.ts'
import { only } from '../../lib/read-bytes.ts'
import { Semaphore } from '../../lib/semaphore.ts'
import { codeOf } from '../../lib/system-error.ts'
import { turnsAt } from '../../lib/user-files.ts'
import type {
  BlobBundle,
  BlobMember,
  BlobStore,
  BytesToReceive,
  CopiedGroup,
  Digests,
  HashedBlob,
} from '../../ports/blob.ts'
import type { Logger } from '../../ports/logger.ts'
import type { WriterPool } from './blob-writer.ts'
import {
  DiskBlob,
  gone,
  isSameFile,
  openUserFile,
  readFileState,
  type FileIdentity,
  type FileState,
} from './disk-blob.ts'
import { isDiskFailure, toDomainError } from '../home/disk-errors.ts'
import type { DiskSpace } from '../home/disk-space.ts'
import { adoptGroup, bundleGroup, hashUnpacked } from './adopt-group.ts'
import { GroupBlob } from './group-blob.ts'
import { decodeGroupList, type GroupMember, type MemberRecord } from './group-list.ts'
import { GrowingBlob, hashFile, newBlobName, uploadTooLarge } from './growing-blob.ts'
import { openOwnFile } from '../home/own-files.ts'
import { BLOB_NAME } from './record-fields.ts'

/** Writes at a time, of all uploads: more are not faster, and leave no thread for other files. */
const MAX_WRITES = 2

/** Packed bytes for a millisecond of a look: usual archives take a tenth of that. */
const LOOK_BYTES_PER_MS = 40_000

/** A look may take so long besides. */
const LEAST_LOOK_MS = 10_000

/** Archives that are looked into beside a larger one: that may take long. */
const SMALL_BYTES: number = 4 * MIB

/** Uploads that are put together beside larger ones: that takes a second or two. */
const SMALL_BUNDLE_BYTES: number = 64 * MIB

interface DiskBlobStoreOptions {
  readonly folder: string
  readonly space: DiskSpace
  readonly clock: Clock
  readonly hasher: FileHasher
  readonly logger: Logger
  /** The largest archive of copied files, in bytes. */
  readonly maxGroupBytes: number
}

/** A blob from before a restart, as it was described then. */
export interface KnownBlob {
  readonly size: number
  readonly digests: Digests
  /** Whether a power cut may have left other bytes in a file of the right size. */
  readonly mayBeTorn?: boolean
}

/** The blobs of a data directory. */
export class DiskBlobStore implements BlobStore {
  readonly #options: DiskBlobStoreOptions
  /** One archive of uploads is made at a time, and a small one beside it: each takes a worker. */
  readonly #archives = { small: new Semaphore(1), large: new Semaphore(1) }
  /** And one is read at a time: making one takes long for large files. */
  readonly #looks = { small: new Semaphore(1), large: new Semaphore(1) }
  readonly #synced = new WeakSet<DiskBlob | GroupBlob>()
  readonly #pool: WriterPool = {
    held: 0,
    gathering: new Set(),
    isSyncing: false,
    writes: new Semaphore(MAX_WRITES),
  }

  constructor(options: DiskBlobStoreOptions) {
    this.#options = options
  }

  async receive(
    bytes: AsyncIterable<Uint8Array>,
    { declaredSize = 0, maxBytes }: BytesToReceive,
  ): Promise<DiskBlob> {
    const { space } = this.#options
    if (declaredSize > maxBytes) throw uploadTooLarge(maxBytes)
    await space.check(declaredSize)
    const allowance = space.allowance(declaredSize)
    const file = await this.begin(newBlobName(), { isKept: false })
    try {
      await file.append({ bytes, maxBytes, allowance })
      const blob = await file.finish(declaredSize)
      space.hadRoom(blob.size)
      return blob
    } catch (error) {
      // Nobody knows how much it would have taken: the next upload tells.
      if (isDiskFailure(error)) space.ranOut(0)
      await file.discard()
      throw error
    } finally {
      allowance.release()
    }
  }

  async adopt(path: string, signal: AbortSignal): Promise<DiskBlob> {
    const look = turnsAt(path, signal)
    const file = await look(() => openUserFile(path))
    try {
      const before = await look(() => readFileState(file))
      if (!before.isFile) throw gone('it is not a regular file')
      const { size } = before.identity
      const digests = await hashFile(file, this.#options.hasher, { size, signal, look })
      const after = await look(() => readFileState(file))
      if (!isSameFile(before.identity, after.identity)) throw gone('the file changed meanwhile')
      return this.adopted(path, after.identity, digests, after.modifiedAt)
    } finally {
      await file.close()
    }
  }

  async adoptGroup(paths: readonly string[], signal: AbortSignal): Promise<CopiedGroup> {
    const { maxGroupBytes: maxBytes } = this.#options
    return adoptGroup(paths, { signal, maxBytes, keep: (bytes) => this.#keep(bytes) })
  }

  #keep(bytes: Uint8Array): Promise<DiskBlob> {
    return this.receive(only(bytes), { declaredSize: bytes.length, maxBytes: bytes.length })
  }

  async bundle(parts: readonly BlobMember[], signal: AbortSignal): Promise<BlobBundle> {
    const members = parts.map(({ dataName, blob }) => {
      if (blob instanceof DiskBlob) return { dataName, blob }
      throw new Error('Cannot keep a blob of another store')
    })
    const { maxGroupBytes: maxBytes } = this.#options
    const size = members.reduce((sum, { blob }) => sum + blob.size, 0)
    const queue = size <= SMALL_BUNDLE_BYTES ? this.#archives.small : this.#archives.large
    const blob = await queue.run(
      () => bundleGroup(members, { signal, maxBytes, keep: (bytes) => this.#keep(bytes) }),
      signal,
    )
    return { blob, dissolve: () => blob.list.discard() }
  }

  async groupHashOf(blob: HashedBlob, signal: AbortSignal): Promise<string | undefined> {
    if (!(blob instanceof DiskBlob)) return blob.groupHash
    const queue = blob.size <= SMALL_BYTES ? this.#looks.small : this.#looks.large
    try {
      return await queue.run(() => this.#look(blob, signal), signal)
    } catch (error) {
      signal.throwIfAborted()
      this.#options.logger.warn('Cannot look into a Group', { ...describeFailure(error) })
      return undefined
    }
  }

  async #look(blob: DiskBlob, signal: AbortSignal): Promise<string | undefined> {
    // Inflating takes as much memory as a long text does, and nobody can slow it down.
    const { clock } = this.#options
    const mostMs = LEAST_LOOK_MS + blob.size / LOOK_BYTES_PER_MS
    const turn = await MemoryTurn.of(clock).take(signal, mostMs)
    // Archives can be made that take a hundred times as long as others of their size.
    const late = new AbortController()
    const cancel = clock.after(mostMs, () => late.abort(new Error('It takes too long')))
    try {
      return await hashUnpacked(blob, AbortSignal.any([signal, late.signal]))
    } finally {
      cancel()
      turn.release()
    }
  }

  /** A blob over a file of the user that was hashed some time ago. */
  adopted(path: string, identity: FileIdentity, digests: Digests, modifiedAt: number): DiskBlob {
    return new DiskBlob({ ownName: undefined, path, identity, digests, modifiedAt })
  }

  /**
   * A blob of ours from before a restart; `undefined` when it is not there, or not whole.
   *
   * @throws {DomainError} `DATA_DIRECTORY_UNUSABLE` when it is not one of ours any more.
   */
  async restore(name: string, known: KnownBlob): Promise<DiskBlob | undefined> {
    const { size, digests, mayBeTorn = false } = known
    const file = await openOwnFile(join(this.#options.folder, name))
    if (file === undefined) return undefined
    try {
      const state = await readFileState(file)
      if (state.identity.size !== size) return undefined
      const found = mayBeTorn ? await hashFile(file, this.#options.hasher, { size }) : digests
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
    const file = await openOwnFile(join(this.#options.folder, name))
    if (file === undefined) return undefined
    try {
      const bytes = await file.readFile()
      const { size, members: records } = decodeGroupList(bytes)
      if (size !== group.size) throw new TypeError('it is of something else')
      const list = this.#own(name, await readFileState(file), await digestsOf(bytes))
      const members = records && (await this.#restoreMembers(records))
      return new GroupBlob({ ...group, list, members }, false)
    } finally {
      await file.close()
    }
  }

  async #restoreMembers(records: readonly MemberRecord[]): Promise<readonly GroupMember[]> {
    const members: GroupMember[] = []
    for (const { name, dataName, size, sha256, blake3 } of records) {
      const blob = await this.restore(name, { size, digests: { sha256, blake3 } })
      if (blob === undefined)
        throw new TypeError(`a file of it (blobs/${name}) is missing or cut off`)
      members.push({ dataName, blob })
    }
    return members
  }

  /**
   * Begins the file of a blob whose bytes come.
   *
   * @param name That of no other blob.
   * @param how.isKept Whether what has come before a failure is kept, and may go on then.
   * @throws {DomainError} `NO_SPACE`.
   */
  async begin(name: string, { isKept }: { readonly isKept: boolean }): Promise<GrowingBlob> {
    const blob = this.#growing(name, 0, isKept)
    blob.begin(await create(join(this.#options.folder, name)))
    return blob
  }

  /**
   * A file from before a restart that comes in several requests; `undefined` when it is not there.
   *
   * @throws {DomainError} as {@link restore}.
   */
  async resume(name: string): Promise<GrowingBlob | undefined> {
    const file = await openOwnFile(join(this.#options.folder, name))
    if (file === undefined) return undefined
    try {
      return this.#growing(name, (await readFileState(file)).identity.size, true)
    } finally {
      await file.close()
    }
  }

  /** Makes a blob survive a power cut, once. @throws {DomainError} `BLOB_GONE`; `NO_SPACE`. */
  async sync(blob: DiskBlob | GroupBlob): Promise<void> {
    try {
      if (this.#synced.has(blob)) return await (await blob.open()).close()
      await blob.sync()
      if (blob.ownName !== undefined) await syncFolder(this.#options.folder)
      this.#synced.add(blob)
    } catch (error) {
      throw toDomainError(error, 'Cannot keep the bytes')
    }
  }

  /** Removes the files of ours that are not in `keep`; what is foreign stays. */
  async sweep(keep: ReadonlySet<string>): Promise<void> {
    const entries = await readdir(this.#options.folder, { withFileTypes: true })
    for (const entry of entries) {
      const isOurs = entry.isFile() && BLOB_NAME.test(entry.name)
      if (isOurs && !keep.has(entry.name))
        await this.#remove(join(this.#options.folder, entry.name))
    }
  }

  #growing(name: string, size: number, isKept: boolean): GrowingBlob {
    const { folder, hasher } = this.#options
    const path = join(folder, name)
    const own = async (file: FileHandle, digests: Digests): Promise<DiskBlob> => {
      return this.#own(name, await readFileState(file), digests)
    }
    const remove = (): Promise<void> => this.#remove(path)
    const parts = { name, path, hasher, pool: this.#pool, isKept, own, remove }
    return new GrowingBlob(parts, size)
  }

  #own(name: string, { identity, modifiedAt }: FileState, digests: Digests): DiskBlob {
    const path = join(this.#options.folder, name)
    // A copy of the data directory has other times, and nobody writes into our files.
    const known = { ...identity, mtimeNs: undefined }
    const fields = { ownName: name, path, identity: known, digests, modifiedAt }
    return new DiskBlob(fields, () => this.#remove(path))
  }

  /** Removes a file. What cannot be removed now is swept at the next start. */
  async #remove(path: string): Promise<void> {
    try {
      await unlink(path)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ENOENT') return
      this.#options.logger.warn('Cannot remove bytes that nobody needs', { path, code })
    }
  }
}

async function create(path: string): Promise<FileHandle> {
  try {
    return await createPrivateFile(path)
  } catch (error) {
    throw toDomainError(error)
  }
}
