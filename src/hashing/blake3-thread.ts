/** The workers in which files, and long texts, are hashed with BLAKE3. @module */

import { Worker } from 'node:worker_threads'
import type { Digests } from '../core/content-id.ts'
import { ownFile, SMALL_HEAP } from '../lib/program-files.ts'

/** The hashing of one file, which must stay open until one of the two endings has settled. */
export interface Blake3Job {
  /** Tells that the first `end` bytes can be read. */
  advance(end: number): void
  /** Ends the hashing: the file has `end` bytes. @returns Its BLAKE3 in lower-case hex. */
  digest(end: number): Promise<string>
  /** Ends the hashing without a result. */
  cancel(): Promise<void>
}

/** Bytes in memory, and their digests. */
export interface HashedBytes extends Digests {
  readonly bytes: Uint8Array<ArrayBuffer>
}

type Ending =
  | {
      readonly kind: 'digest'
      readonly job: number
      /** A descriptor, or the bytes themselves. */
      readonly source: number | Uint8Array
      readonly end: number
    }
  | { readonly kind: 'cancel'; readonly job: number }

interface Ended {
  readonly job: number
  /** The BLAKE3. */
  readonly digest: string | undefined
  /** There for bytes in memory. */
  readonly sha256?: string | undefined
  readonly bytes?: Uint8Array<ArrayBuffer>
  readonly failure: string | undefined
}

/** One worker. */
export class Blake3Thread {
  readonly #worker: Worker
  readonly #onEnd: () => void
  readonly #ending = new Map<number, (ended: Ended | Error) => void>()
  #jobs = 0
  #failure: Error | undefined

  /**
   * @param onEnd Called when the thread cannot be used any more.
   * @param onTrouble Called with the reason when the kernel is damaged, and `hash-wasm` hashes.
   */
  constructor(onEnd: () => void, onTrouble: (reason: string) => void = () => undefined) {
    this.#onEnd = onEnd
    const entry = ownFile('./blake3-worker.js', import.meta.url)
    this.#worker = new Worker(entry, { resourceLimits: SMALL_HEAP })
    // A worker that does not use the kernel says why.
    this.#worker.on('message', (message: Ended | { readonly trouble: string }) => {
      if ('trouble' in message) onTrouble(message.trouble)
      else {
        this.#ending.get(message.job)?.(message)
        this.#ending.delete(message.job)
      }
    })
    this.#worker.on('error', (cause) => this.#fail(cause))
    this.#worker.on('exit', () => this.#fail(undefined))
  }

  /**
   * Begins to hash the file that is open as `fd`.
   *
   * @param onEnd Called when it has ended, in either way, before whoever ended it goes on.
   */
  start(fd: number, onEnd: () => unknown = () => undefined): Blake3Job {
    const job = this.#jobs
    this.#jobs += 1
    return {
      advance: (end) => this.#worker.postMessage({ kind: 'advance', job, source: fd, end }),
      digest: async (end) => {
        const { digest, failure } = await this.#digest({
          kind: 'digest',
          job,
          source: fd,
          end,
        }).finally(onEnd)
        if (digest === undefined) throw new Error(`Cannot hash the file: ${failure}`)
        return digest
      },
      cancel: async () => void (await this.#end({ kind: 'cancel', job }).finally(onEnd)),
    }
  }

  /** Both digests of `bytes`, handed over and given back. @throws When the worker ends. */
  async digestsOf(bytes: Uint8Array<ArrayBuffer>): Promise<HashedBytes> {
    const job = this.#jobs
    this.#jobs += 1
    const message = { kind: 'digest', job, source: bytes, end: bytes.length } as const
    const ended = await this.#digest(message, [bytes.buffer])
    const { digest, sha256, failure, bytes: back } = ended
    if (digest === undefined || sha256 === undefined || back === undefined) {
      throw new Error(`Cannot hash: ${failure}`)
    }
    return { sha256, blake3: digest, bytes: back }
  }

  /** Sets whether the thread keeps the program alive. */
  hold(isHeld: boolean): void {
    if (isHeld) this.#worker.ref()
    else this.#worker.unref()
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }

  async #digest(message: Ending, handedOver: readonly ArrayBuffer[] = []): Promise<Ended> {
    const ended = await this.#end(message, handedOver)
    if (ended instanceof Error) throw ended
    return ended
  }

  #end(message: Ending, handedOver: readonly ArrayBuffer[] = []): Promise<Ended | Error> {
    if (this.#failure !== undefined) return Promise.resolve(this.#failure)
    this.#worker.postMessage(message, handedOver)
    return new Promise((resolve) => this.#ending.set(message.job, resolve))
  }

  #fail(cause: unknown): void {
    if (this.#failure !== undefined) return
    this.#failure = new Error('Cannot hash: the worker ended', { cause })
    for (const settle of this.#ending.values()) settle(this.#failure)
    this.#ending.clear()
    this.#onEnd()
  }
}
