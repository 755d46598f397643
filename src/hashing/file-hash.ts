/**
 * The digests of one file that is being written or read, from its beginning to its end.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { Digests } from '../core/digests.ts'
import { MIB } from '../core/limits.ts'
import type { Blake3Job } from './blake3-thread.ts'
import { createBlake3 } from './blake3.ts'

/** Hashed in a millisecond: not worth a thread, which takes thirty to start. */
const SMALL_BYTES: number = MIB

/** The file must stay open until one of the two endings, `finish` and `abort`, has settled. */
export class FileHash {
  readonly #file: FileHandle
  readonly #startJob: () => Blake3Job
  readonly #sha256 = createHash('sha256')
  #size = 0
  #job: Blake3Job | undefined

  constructor(file: FileHandle, startJob: () => Blake3Job) {
    this.#file = file
    this.#startJob = startJob
  }

  /** How many bytes were added. */
  get size(): number {
    return this.#size
  }

  /** Takes the next bytes of the file. */
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

  /**
   * Ends it: everything that was added can be read from the file.
   *
   * @throws When the file has become shorter, or the worker ended.
   */
  async finish(): Promise<Digests> {
    this.reached(this.#size)
    const blake3 = await (this.#job?.digest(this.#size) ?? this.#hashSmall())
    return { sha256: this.#sha256.digest('hex'), blake3 }
  }

  /** Ends it without a result. */
  async abort(): Promise<void> {
    await this.#job?.cancel()
  }

  async #hashSmall(): Promise<string> {
    const blake3 = (await createBlake3()).init()
    const block = Buffer.allocUnsafeSlow(this.#size)
    for (let position = 0; position < this.#size; ) {
      const { bytesRead } = await this.#file.read(block, 0, block.length, position)
      if (bytesRead === 0) throw new Error('Cannot hash the file: it has become shorter')
      blake3.update(block.subarray(0, bytesRead))
      position += bytesRead
    }
    return blake3.digest('hex')
  }
}
