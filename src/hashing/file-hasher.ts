/**
 * Hashes files while they are written, or read: SHA-256 on this thread, where it is native code,
 * and BLAKE3 in one worker for all of ours, so that the two run side by side. Long texts, which are
 * there as a whole, are hashed by the worker alone. The worker is there while something comes that
 * is not small. Files of the user have others, one for each that is read: it may stand still.
 *
 * Also computes what an item is known by, from bytes in memory or from digests.
 * @module
 */

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { IHasher } from 'hash-wasm'
import {
  type ContentId,
  type Digests,
  FILE_TAG,
  nameHashOf as nameHashWith,
  SNAPSHOT_TAG,
} from '../core/content-id.ts'
import type { ItemType } from '../core/item.ts'
import { MIB } from '../core/limits.ts'
import { perClock, systemClock, type Clock } from '../lib/clock.ts'
import { packageFile } from '../lib/program-files.ts'
import type { Look } from '../lib/user-files.ts'
import { type Blake3Job, Blake3Thread, type HashedBytes } from './blake3-thread.ts'

interface FileHasherOptions {
  /** Measures how long the worker waits for another file; that of the machine unless given. */
  readonly clock?: Clock
  /** Called once with the reason when the kernel of the worker is damaged: hashing is slow then. */
  readonly onTrouble?: (reason: string) => void
}

/** How long the worker waits for another file: the photos of one push share a worker. */
const IDLE_MS = 10_000

/** A file of this size is hashed in a millisecond; a thread takes thirty to start. */
const SMALL_BYTES: number = MIB

/** The hashing of all files and long texts of a daemon. */
export class FileHasher {
  readonly #ours: SharedThread
  readonly #users: SharedThread
  /** Gone once it was called: each worker finds the same trouble. */
  onTrouble: FileHasherOptions['onTrouble']

  constructor({ clock = systemClock, onTrouble }: FileHasherOptions = {}) {
    this.onTrouble = onTrouble
    ;[this.#ours, this.#users] = SharedThread.join(clock, this)
  }

  /** Whether there is a worker now. */
  get isRunning(): boolean {
    return this.#ours.isRunning
  }

  /** @param look How a file of the user is read, which may take for ever. */
  start(file: FileHandle, look?: Look): FileHash {
    const { fd } = file
    const startJob = () => (look ? this.#users.startAlone(fd) : this.#ours.start(fd))
    return new FileHash(file, startJob, look)
  }

  /**
   * Both digests of bytes in memory.
   *
   * @param bytes Handed over, and given back: these may be empty then.
   * @throws When the worker ended.
   */
  async digestsOf(bytes: Uint8Array<ArrayBuffer>): Promise<HashedBytes> {
    return bytes.length <= SMALL_BYTES ? hashBytes(bytes) : this.#ours.digestsOf(bytes)
  }

  /**
   * Ends the worker, unless another hasher of this program is open: what it is hashing fails then,
   * and goes on to its end otherwise.
   */
  async close(): Promise<void> {
    // One that stands still ends with its share: nobody waits for that.
    void this.#users.leave(this)
    await this.#ours.leave(this)
  }
}

/** A worker that all hashers of a program have in common. */
class SharedThread {
  static readonly #of = perClock(
    (clock) => [new SharedThread(clock), new SharedThread(clock)] as const,
  )
  readonly #clock: Clock
  readonly #holders = new Set<FileHasher>()
  #thread: Blake3Thread | undefined
  #jobs = 0
  #cancelIdle: () => void = () => undefined

  private constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @returns That for our files, and that for files of the user. */
  static join(clock: Clock, holder: FileHasher): readonly [SharedThread, SharedThread] {
    const both = SharedThread.#of(clock)
    for (const shared of both) shared.#holders.add(holder)
    return both
  }

  get isRunning(): boolean {
    return this.#thread !== undefined
  }

  async leave(holder: FileHasher): Promise<void> {
    this.#holders.delete(holder)
    if (this.#holders.size > 0) return
    this.#cancelIdle()
    const thread = this.#thread
    if (thread !== undefined) this.#forget(thread)
    await thread?.close()
  }

  digestsOf(bytes: Uint8Array<ArrayBuffer>): Promise<HashedBytes> {
    const thread = this.#holdThread()
    return thread.digestsOf(bytes).finally(() => this.#endJob(thread))
  }

  start(fd: number): Blake3Job {
    const thread = this.#holdThread()
    return thread.start(fd, () => this.#endJob(thread))
  }

  /** The same, with another thread while this one is busy. */
  startAlone(fd: number): Blake3Job {
    if (this.#jobs === 0) return this.start(fd)
    const thread = this.#startThread()
    return thread.start(fd, () => thread.close())
  }

  #holdThread(): Blake3Thread {
    this.#cancelIdle()
    this.#thread ??= this.#startThread()
    this.#thread.hold(true)
    this.#jobs += 1
    return this.#thread
  }

  #startThread(): Blake3Thread {
    const thread = new Blake3Thread(
      () => this.#forget(thread),
      (reason) => {
        for (const holder of this.#holders) {
          holder.onTrouble?.(reason)
          holder.onTrouble = undefined
        }
      },
    )
    return thread
  }

  #endJob(thread: Blake3Thread): void {
    if (this.#thread !== thread) return
    this.#jobs -= 1
    if (this.#jobs > 0) return
    thread.hold(false)
    this.#cancelIdle = this.#clock.after(IDLE_MS, () => {
      this.#forget(thread)
      void thread.close()
    })
  }

  #forget(thread: Blake3Thread): void {
    if (this.#thread !== thread) return
    this.#thread = undefined
    this.#jobs = 0
  }
}

/**
 * The digests of one file that is being written or read, from its beginning to its end. The file
 * must stay open until one of the two endings, `finish` and `abort`, has settled.
 */
export class FileHash {
  readonly #file: FileHandle
  readonly #startJob: () => Blake3Job
  readonly #look: Look
  readonly #sha256 = createHash('sha256')
  #size = 0
  #job: Blake3Job | undefined

  constructor(file: FileHandle, startJob: () => Blake3Job, look: Look = (read) => read()) {
    this.#file = file
    this.#startJob = startJob
    this.#look = look
  }

  add(bytes: Uint8Array): void {
    this.#sha256.update(bytes)
    this.#size += bytes.length
  }

  /** Tells that the first `end` bytes can be read from the file. */
  reached(end: number): void {
    if (end <= SMALL_BYTES) return
    this.#job ??= this.#startJob()
    this.#job.advance(end)
  }

  /** Ends the hashing. @throws When the file has become shorter, or the worker ended. */
  async finish(): Promise<Digests> {
    this.reached(this.#size)
    const blake3 = await (this.#job?.digest(this.#size) ?? this.#hashSmall())
    return { sha256: this.#sha256.digest('hex'), blake3 }
  }

  /** Ends the hashing without a result. */
  async abort(): Promise<void> {
    await this.#job?.cancel()
  }

  async #hashSmall(): Promise<string> {
    const bytes = Buffer.allocUnsafeSlow(this.#size)
    for (let filled = 0; filled < bytes.length; ) {
      const left = bytes.length - filled
      const read = () => this.#file.read(bytes, filled, left, filled)
      const { bytesRead } = await this.#look(read)
      if (bytesRead === 0) throw new Error('Cannot hash the file: it has become shorter')
      filled += bytesRead
    }
    return blake3Of(bytes)
  }
}

// The package is found now and loaded when the first hash is wanted: Node remembers a search that
// failed because no descriptor was free.
const PACKAGE = /* @__PURE__ */ packageFile('hash-wasm/dist/blake3.umd.min.js', 'blake3.cjs')

/** The one hasher of this thread: an instance of WebAssembly takes 10 GiB of addresses. */
let kept: Promise<IHasher> | undefined

/** The BLAKE3 of these bytes, one piece after the other, in lower-case hex. */
export async function blake3Of(...pieces: readonly Uint8Array[]): Promise<string> {
  const hasher = await keptHasher()
  // From here to the end nobody else has it: nothing is awaited.
  hasher.init()
  for (const piece of pieces) hasher.update(piece)
  return hasher.digest('hex')
}

async function keptHasher(): Promise<IHasher> {
  kept ??= createHasher()
  const found = kept
  try {
    return await found
  } catch (error) {
    // There was no descriptor or no memory for it just then: the next one tries again.
    if (kept === found) kept = undefined
    throw error
  }
}

async function createHasher(): Promise<IHasher> {
  // `require` costs a third of `import` here, in time and in memory.
  const { createBLAKE3 }: typeof import('hash-wasm') = createRequire(PACKAGE)(PACKAGE)
  return createBLAKE3()
}

/** The content id of an item of this type whose bytes have this BLAKE3 (lower-case hex). */
export async function contentIdOf(type: ItemType, blake3OfBytes: string): Promise<ContentId> {
  const isFile = type === 'File' || type === 'Group'
  const digest = isFile ? await hashTagged(FILE_TAG, blake3OfBytes) : blake3OfBytes
  return `blake3v1:${await hashTagged(SNAPSHOT_TAG, digest)}`
}

/** @param digest In hex, as is the result. */
function hashTagged(tag: string, digest: string): Promise<string> {
  return blake3Of(Buffer.from(tag), Buffer.from(digest, 'hex'))
}

/** The name-bound hash of the reference protocol, in lower-case hex. */
export function nameHashOf(dataName: string, sha256: string): string {
  return nameHashWith(dataName, sha256, (text) => createHash('sha256').update(text).digest('hex'))
}

/** Both digests of `bytes`, computed on this thread: for texts and other small things. */
export async function digestsOf(bytes: Uint8Array): Promise<Digests> {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { sha256, blake3: await blake3Of(bytes) }
}

/** The same, with the bytes. */
export async function hashBytes(bytes: Uint8Array<ArrayBuffer>): Promise<HashedBytes> {
  return { ...(await digestsOf(bytes)), bytes }
}
