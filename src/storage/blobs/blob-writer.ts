/**
 * Brings the bytes of an upload into a new file as they come, and has it hashed behind the writing.
 * Refuses what is too much or too little.
 *
 * Chunks are gathered to batches, and two batches are written at a time.
 * @module
 */

import { KIB, MIB } from '../../core/limits.ts'
import type { FileHash } from '../../hashing/file-hasher.ts'
import { freeBytes } from '../../lib/read-bytes.ts'
import type { Semaphore } from '../../lib/semaphore.ts'
import type { Digests } from '../../ports/blob.ts'
import { toDomainError } from '../home/disk-errors.ts'

/** Smaller batches wake a thread for little work; larger ones save no more, and take memory. */
const BATCH_BYTES: number = 512 * KIB

/** A system call takes no more, and a hostile sender makes them a byte each. */
const BATCH_CHUNKS = 1024

/** More writes of one file at a time are not faster, and hold their batches in memory. */
const MAX_WRITES = 2

/** When all uploads together hold more than this, they write smaller batches. */
const MAX_HELD_BYTES: number = 2 * MIB

/**
 * After this many bytes the disk is told to begin. It costs nothing while hashing is slower, and
 * the document that makes a large upload the item then waits for 10 ms instead of half a second.
 */
const WRITE_BACK_BYTES: number = 32 * MIB

/** The part of a `FileHandle` that is needed. */
export interface WritableFile {
  writev(
    chunks: readonly Uint8Array[],
    position: number,
  ): Promise<{ readonly bytesWritten: number }>
  datasync(): Promise<void>
}

/** The state that the writers of one store share. */
export interface WriterPool {
  held: number
  /** Writers that hold bytes; the one that has gathered for the longest time comes first. */
  readonly gathering: Set<Pick<BlobWriter, 'writeOut'>>
  /** Whether one of them waits for the disk: more would leave no thread for other files. */
  isSyncing: boolean
  readonly writes: Semaphore
}

/** The parts that a {@link BlobWriter} works with. */
export interface BlobWriterOptions {
  readonly file: WritableFile
  readonly hash: Pick<FileHash, 'add' | 'reached' | 'finish' | 'abort'>
  readonly pool: WriterPool
  /** Called when more bytes have been written, with their number. */
  readonly onWritten: (bytes: number) => void
  /** Bytes that are in the file already, and in the hash; 0 unless given. */
  readonly start?: number
  /** Whether one write waits for the one before it: a crash then leaves no hole in the file. */
  readonly isSerial?: boolean
}

interface Batch {
  readonly chunks: readonly Uint8Array[]
  readonly start: number
  readonly end: number
  isWritten: boolean
}

/** Writes one file. Exactly one of its two endings, `finish` and `abort`, must be called. */
export class BlobWriter {
  readonly #options: BlobWriterOptions
  readonly #underWay = new Set<Promise<void>>()
  /** Batches in the order of the file; the first one is not written yet. */
  readonly #batches: Batch[] = []
  #chunks: Uint8Array[] = []
  /** Where the gathered chunks begin in the file. */
  #position = 0
  #size = 0
  #written = 0
  #unsynced = 0
  #sync: Promise<void> | undefined
  #failure: { readonly cause: unknown } | undefined

  constructor(options: BlobWriterOptions) {
    const { start = 0 } = options
    this.#options = options
    this.#position = start
    this.#size = start
    this.#written = start
  }

  /** The number of bytes that are in the file, from its beginning on without a hole. */
  get written(): number {
    return this.#written
  }

  get size(): number {
    return this.#size
  }

  /**
   * Appends a chunk, which must not change any more. One that was handed over is freed.
   *
   * @returns What to wait for before the next one, if anything.
   * @throws {DomainError} `NO_SPACE`.
   */
  add(chunk: Uint8Array): Promise<void> | undefined {
    const { hash, pool } = this.#options
    hash.add(chunk)
    if (this.#chunks.length === 0) pool.gathering.add(this)
    this.#chunks.push(chunk)
    this.#size += chunk.length
    pool.held += chunk.length
    const isFull = this.#size - this.#position >= BATCH_BYTES || this.#chunks.length >= BATCH_CHUNKS
    if (isFull) return this.#flush()
    if (pool.held <= MAX_HELD_BYTES) return undefined
    // The bytes of a slow sender would lie here until its next ones come, and leave others less.
    const [first] = pool.gathering
    if (first !== this) first?.writeOut()
    return this.#flush()
  }

  writeOut(): void {
    if (this.#chunks.length === 0) return
    const batch: Batch = {
      chunks: this.#chunks,
      start: this.#position,
      end: this.#size,
      isWritten: false,
    }
    this.#chunks = []
    this.#options.pool.gathering.delete(this)
    this.#position = batch.end
    this.#batches.push(batch)
    const { file, pool, isSerial } = this.#options
    const run = (): Promise<void> => {
      return pool.writes.run(() => writeFully(file, batch.chunks, batch.start))
    }
    const write = (isSerial === true ? this.#earlierWrites().then(run) : run())
      .then(() => this.#onWritten(batch))
      .catch((cause: unknown) => this.#fail(cause))
      .finally(() => {
        pool.held -= batch.end - batch.start
        this.#underWay.delete(write)
      })
    this.#underWay.add(write)
  }

  /** Writes all that was added; more may come after it. @throws {DomainError} `NO_SPACE`. */
  async settle(): Promise<void> {
    this.writeOut()
    await Promise.all([...this.#underWay, this.#sync])
    this.#throwFailure()
  }

  /** Ends the writing: everything is in the file then. */
  async finish(): Promise<Digests> {
    this.writeOut()
    await Promise.all(this.#underWay)
    const digests = this.#options.hash.finish()
    await Promise.allSettled([digests, this.#sync])
    this.#throwFailure()
    return digests
  }

  /** Ends the writing without a result. Nothing uses the file once it resolves. */
  async abort(): Promise<void> {
    const { hash, pool } = this.#options
    pool.held -= this.#size - this.#position
    pool.gathering.delete(this)
    await Promise.all([...this.#underWay, this.#sync])
    await hash.abort()
  }

  /** Nothing is written behind what could not be written. */
  async #earlierWrites(): Promise<void> {
    await Promise.all(this.#underWay)
    this.#throwFailure()
  }

  async #flush(): Promise<void> {
    this.writeOut()
    const maxWrites = this.#options.isSerial === true ? 1 : MAX_WRITES
    while (this.#underWay.size >= maxWrites) await Promise.race(this.#underWay)
    this.#throwFailure()
  }

  /** Two writes may end in another order than they began. */
  #onWritten(batch: Batch): void {
    batch.isWritten = true
    for (const chunk of batch.chunks) freeBytes(chunk)
    for (let first = this.#batches[0]; first?.isWritten === true; first = this.#batches[0]) {
      this.#batches.shift()
      this.#written = first.end
      this.#options.hash.reached(first.end)
    }
    this.#options.onWritten(batch.end - batch.start)
    this.#unsynced += batch.end - batch.start
    if (this.#unsynced >= WRITE_BACK_BYTES && !this.#options.pool.isSyncing) this.#writeBack()
  }

  #writeBack(): void {
    const { file, pool } = this.#options
    this.#unsynced = 0
    pool.isSyncing = true
    this.#sync = file
      .datasync()
      .catch((cause: unknown) => this.#fail(toDomainError(cause)))
      .finally(() => {
        pool.isSyncing = false
      })
  }

  #fail(cause: unknown): void {
    this.#failure ??= { cause }
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.cause
  }
}

/** Writes all of a batch. @throws {DomainError} `NO_SPACE`. */
async function writeFully(
  file: WritableFile,
  chunks: readonly Uint8Array[],
  position: number,
): Promise<void> {
  try {
    let rest = chunks
    for (let at = position; rest.length > 0; ) {
      const { bytesWritten } = await file.writev(rest, at)
      at += bytesWritten
      // A disk that is nearly full takes less than it is given, and only then says so.
      rest = dropBytes(rest, bytesWritten)
    }
  } catch (error) {
    throw toDomainError(error)
  }
}

/** The bytes of `chunks` behind the first `count` ones. */
function dropBytes(chunks: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  let left = count
  const index = chunks.findIndex(({ length }) => {
    if (left < length) return true
    left -= length
    return false
  })
  if (index === -1) return []
  const [first, ...others] = chunks.slice(index)
  return first === undefined ? [] : [first.subarray(left), ...others]
}
