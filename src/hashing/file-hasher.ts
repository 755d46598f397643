/**
 * Hashes files while they are written, or read: SHA-256 on this thread, where it is native code,
 * and BLAKE3 in one worker for all of them, so that the two run side by side.
 *
 * The worker is started by the first file that is not small, and ended when there was none for a
 * while.
 *
 * @module
 */

import type { FileHandle } from 'node:fs/promises'
import { Blake3Thread, type Blake3Job } from './blake3-thread.ts'
import { FileHash } from './file-hash.ts'

export interface FileHasherOptions {
  /** How long the worker waits for another file. */
  readonly idleMs?: number
  /** Called once with the reason when the kernel of the worker is damaged: hashing is slow then. */
  readonly onTrouble?: (reason: string) => void
}

/** Long enough for the photos of one push to share a worker. */
const IDLE_MS = 10_000

export class FileHasher {
  readonly #idleMs: number
  #onTrouble: FileHasherOptions['onTrouble']
  #thread: Blake3Thread | undefined
  /** Files that the thread is hashing. */
  #jobs = 0
  #idle: NodeJS.Timeout | undefined

  constructor({ idleMs = IDLE_MS, onTrouble }: FileHasherOptions = {}) {
    this.#idleMs = idleMs
    this.#onTrouble = onTrouble
  }

  /** Whether there is a worker now. */
  get isRunning(): boolean {
    return this.#thread !== undefined
  }

  /** Begins to hash a file, from its beginning. */
  start(file: FileHandle): FileHash {
    return new FileHash(file, () => this.#startJob(file.fd))
  }

  /** Ends the worker; what it is hashing fails. */
  async close(): Promise<void> {
    clearTimeout(this.#idle)
    await this.#thread?.close()
  }

  #startJob(fd: number): Blake3Job {
    clearTimeout(this.#idle)
    const thread = (this.#thread ??= this.#startThread())
    thread.hold(true)
    this.#jobs++
    const job = thread.start(fd)
    return {
      advance: job.advance,
      digest: (end) => job.digest(end).finally(() => this.#endJob(thread)),
      cancel: () => job.cancel().finally(() => this.#endJob(thread)),
    }
  }

  #startThread(): Blake3Thread {
    const thread = new Blake3Thread(
      () => this.#forget(thread),
      (reason) => this.#report(reason),
    )
    return thread
  }

  /** Once: each worker finds the same. */
  #report(reason: string): void {
    this.#onTrouble?.(reason)
    this.#onTrouble = undefined
  }

  #endJob(thread: Blake3Thread): void {
    if (this.#thread !== thread || --this.#jobs > 0) return
    thread.hold(false)
    this.#idle = setTimeout(() => {
      this.#forget(thread)
      void thread.close()
    }, this.#idleMs).unref()
  }

  #forget(thread: Blake3Thread): void {
    if (this.#thread !== thread) return
    this.#thread = undefined
    this.#jobs = 0
  }
}
