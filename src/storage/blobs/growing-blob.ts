/**
 * The file of a blob while its bytes come. Between requests it stays open, and the hashing goes on
 * from where it was; a file that was closed meanwhile is read once when more bytes come.
 * @module
 */

import { randomBytes } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { constants } from 'node:fs'
import { DomainError, type DomainErrorCode } from '../../core/domain-error.ts'
import type { FileHash, FileHasher } from '../../hashing/file-hasher.ts'
import type { Digests } from '../../ports/blob.ts'
import { BlobWriter, type WriterPool } from './blob-writer.ts'
import { type DiskBlob, gone, lookAtOnce } from './disk-blob.ts'
import { toDomainError } from '../home/disk-errors.ts'
import type { Allowance } from '../home/disk-space.ts'
import { MIB } from '../../core/limits.ts'
import type { Look } from '../../lib/user-files.ts'

const WRITE_FLAGS: number = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK

interface GrowingBlobOptions {
  readonly name: string
  readonly path: string
  readonly hasher: FileHasher
  readonly pool: WriterPool
  /** Whether the bytes before a failure stay, without a hole; that takes one write at a time. */
  readonly isKept: boolean
  readonly own: (file: FileHandle, digests: Digests) => Promise<DiskBlob>
  readonly remove: () => Promise<void>
}

/** Where the bytes of an append come from, and where they have room. */
interface Append {
  readonly bytes: AsyncIterable<Uint8Array>
  /** Bytes of the whole file, if that is known. */
  readonly length?: number | undefined
  readonly maxBytes: number
  readonly allowance: Allowance
  readonly onProgress?: (size: number) => void
  readonly signal?: AbortSignal | undefined
}

interface OpenFile {
  readonly file: FileHandle
  readonly writer: BlobWriter
}

/** The bytes that have come of an upload. One caller at a time uses it. */
export class GrowingBlob {
  readonly #options: GrowingBlobOptions
  #size: number
  #open: OpenFile | undefined
  #onWritten: (bytes: number) => void = () => {}

  /** @param size The bytes that the file has. */
  constructor(options: GrowingBlobOptions, size: number) {
    this.#options = options
    this.#size = size
  }

  get name(): string {
    return this.#options.name
  }

  get size(): number {
    return this.#open?.writer.written ?? this.#size
  }

  /** Takes over a new file, which is empty. */
  begin(file: FileHandle): void {
    this.#open = this.#opened(file, this.#options.hasher.start(file))
  }

  /**
   * Appends bytes. What has come before a failure stays, where it is to be kept.
   *
   * @throws {DomainError} `LENGTH_EXCEEDED`, `UPLOAD_TOO_LARGE`, `NO_SPACE`; what `bytes` throws;
   *   `signal.reason` while the file is read again.
   */
  async append({ bytes, length, maxBytes, allowance, onProgress, signal }: Append): Promise<void> {
    const { isKept } = this.#options
    const { writer } = await this.#reopened(signal)
    this.#onWritten = (count) => {
      allowance.wrote(count)
      onProgress?.(writer.written)
    }
    try {
      for await (const chunk of bytes) {
        const size = writer.size + chunk.length
        if (length !== undefined && size > length) throw exceeded(length)
        if (size > maxBytes) throw uploadTooLarge(maxBytes)
        if (size > allowance.bytes) await allowance.grow(size)
        const pause = writer.add(chunk)
        // Waiting for nothing would cost a turn for every chunk.
        if (pause !== undefined) await pause
      }
    } finally {
      if (isKept) await this.#settle(writer)
    }
  }

  async truncate(size: number): Promise<void> {
    await this.close()
    const file = await this.#openAgain()
    try {
      await file.truncate(size)
      this.#size = size
    } catch (error) {
      throw toDomainError(error, 'Cannot go on with the upload')
    } finally {
      await file.close()
    }
  }

  /**
   * Makes a blob of the bytes: no more come.
   *
   * @throws {DomainError} `UPLOAD_INCOMPLETE` when there are fewer than `length`; `NO_SPACE`.
   */
  async finish(length = 0): Promise<DiskBlob> {
    const { file, writer } = await this.#reopened()
    if (writer.size < length) throw incomplete(writer.size, length)
    this.#size = writer.written
    this.#open = undefined
    try {
      return await this.#options.own(file, await writer.finish())
    } finally {
      await file.close()
    }
  }

  /** Makes the bytes survive a power cut. */
  async sync(): Promise<void> {
    const file = this.#open?.file ?? (await open(this.#options.path, WRITE_FLAGS))
    try {
      await file.datasync()
    } finally {
      if (file !== this.#open?.file) await file.close()
    }
  }

  /** Closes the file and forgets its hash, until more bytes come. */
  async close(): Promise<void> {
    const opened = this.#open
    if (opened === undefined) return
    this.#size = opened.writer.written
    this.#open = undefined
    await opened.writer.abort()
    await opened.file.close()
  }

  async discard(): Promise<void> {
    await this.close().catch(() => {
      // Bytes that the disk did not take are removed as well.
    })
    await this.#options.remove()
  }

  /** After a failure the file is read again next time: the hash is ahead of it. */
  async #settle(writer: BlobWriter): Promise<void> {
    try {
      await writer.settle()
    } catch (error) {
      const size = writer.written
      await this.#open?.file.truncate(size)
      await this.close()
      throw error
    }
  }

  async #reopened(signal?: AbortSignal): Promise<OpenFile> {
    if (this.#open !== undefined) return this.#open
    const file = await this.#openAgain()
    try {
      const options = signal === undefined ? {} : { signal }
      const hash = await hashBeginning(file, this.#options.hasher, { size: this.#size, ...options })
      this.#open = this.#opened(file, hash)
      return this.#open
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async #openAgain(): Promise<FileHandle> {
    try {
      return await open(this.#options.path, WRITE_FLAGS)
    } catch (error) {
      throw toDomainError(error, 'Cannot go on with the upload')
    }
  }

  #opened(file: FileHandle, hash: FileHash): OpenFile {
    const onWritten = (count: number): void => this.#onWritten(count)
    const { pool, isKept: isSerial } = this.#options
    const writer = new BlobWriter({ file, hash, pool, onWritten, start: this.#size, isSerial })
    return { file, writer }
  }
}

function exceeded(length: number): DomainError {
  return refused('LENGTH_EXCEEDED', `more than ${length} bytes came`)
}

function incomplete(size: number, length: number): DomainError {
  return refused('UPLOAD_INCOMPLETE', `${size} of ${length} bytes came`)
}

/** A name for a new file in `blobs/`, which nobody can guess. */
export function newBlobName(): string {
  return randomBytes(16).toString('hex')
}

/** The refusal of an upload of more than `maxBytes`. */
export function uploadTooLarge(maxBytes: number): DomainError {
  return refused('UPLOAD_TOO_LARGE', `at most ${maxBytes} bytes are taken`)
}

function refused(code: DomainErrorCode, reason: string): DomainError {
  return new DomainError(code, `Cannot keep the upload: ${reason}`)
}

const READ_BYTES: number = MIB / 4

interface HashFileOptions {
  readonly size: number
  readonly signal?: AbortSignal
  /** How each piece is read: at once unless given. */
  readonly look?: Look
}

/** Hashes a file. @throws {DomainError} `BLOB_GONE` when it becomes shorter; `signal.reason`. */
export async function hashFile(
  file: FileHandle,
  hasher: FileHasher,
  options: HashFileOptions,
): Promise<Digests> {
  return (await hashBeginning(file, hasher, options)).finish()
}

/** Hashes the first bytes of a file that may get more. @throws As {@link hashFile}. */
export async function hashBeginning(
  file: FileHandle,
  hasher: FileHasher,
  { size, signal, look }: HashFileOptions,
): Promise<FileHash> {
  const hash = hasher.start(file, look)
  const lookInTurn = look ?? lookAtOnce
  try {
    const block = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, size))
    for (let position = 0; position < size; ) {
      const length = Math.min(block.length, size - position)
      const { bytesRead } = await lookInTurn(() => file.read(block, 0, length, position))
      signal?.throwIfAborted()
      if (bytesRead === 0) throw gone('the file became shorter while it was read')
      hash.add(block.subarray(0, bytesRead))
      position += bytesRead
      hash.reached(position)
    }
    return hash
  } catch (error) {
    await hash.abort()
    throw error
  }
}
