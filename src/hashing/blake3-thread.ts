/**
 * This side of `blake3-worker.js`: hashes files that grow, in one thread for all of them.
 * @module
 */

import { Worker } from 'node:worker_threads'

/** The hashing of one file, which must stay open until one of the two endings has settled. */
export interface Blake3Job {
  /** Tells that the first `end` bytes can be read. */
  advance(end: number): void
  /** Ends the hashing: the file has `end` bytes. @returns Its BLAKE3 in lower-case hex. */
  digest(end: number): Promise<string>
  /** Ends the hashing without a result. */
  cancel(): Promise<void>
}

type Ending =
  | { readonly kind: 'digest'; readonly job: number; readonly fd: number; readonly end: number }
  | { readonly kind: 'cancel'; readonly job: number }

interface Ended {
  readonly job: number
  readonly digest: string | undefined
  readonly failure: string | undefined
}

/** The message of a worker that does not use the kernel. */
interface KernelTrouble {
  readonly trouble: string
}

/** The worker makes few objects; by default it would keep 7 MiB of garbage before it looked. */
const HEAP = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 }

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
    const entry = new URL('./blake3-worker.js', import.meta.url)
    this.#worker = new Worker(entry, { resourceLimits: HEAP })
    this.#worker.on('message', (message: Ended | KernelTrouble) => {
      if ('trouble' in message) onTrouble(message.trouble)
      else this.#settle(message)
    })
    this.#worker.on('error', (cause) => this.#fail(cause))
    this.#worker.on('exit', () => this.#fail(undefined))
  }

  /** Begins to hash the file that is open as `fd`. */
  start(fd: number): Blake3Job {
    const job = this.#jobs
    this.#jobs += 1
    return {
      advance: (end) => this.#worker.postMessage({ kind: 'advance', job, fd, end }),
      digest: async (end) => {
        const ended = await this.#end({ kind: 'digest', job, fd, end })
        if (ended instanceof Error) throw ended
        if (ended.digest === undefined) throw new Error(`Cannot hash the file: ${ended.failure}`)
        return ended.digest
      },
      cancel: async () => void (await this.#end({ kind: 'cancel', job })),
    }
  }

  /** Sets whether the thread keeps the program alive. */
  hold(isHeld: boolean): void {
    if (isHeld) this.#worker.ref()
    else this.#worker.unref()
  }

  /** Ends the worker. */
  async close(): Promise<void> {
    await this.#worker.terminate()
  }

  #end(message: Ending): Promise<Ended | Error> {
    if (this.#failure !== undefined) return Promise.resolve(this.#failure)
    this.#worker.postMessage(message)
    return new Promise((resolve) => this.#ending.set(message.job, resolve))
  }

  #settle(ended: Ended): void {
    this.#ending.get(ended.job)?.(ended)
    this.#ending.delete(ended.job)
  }

  #fail(cause: unknown): void {
    if (this.#failure !== undefined) return
    this.#failure = new Error('Cannot hash the file: the worker ended', { cause })
    for (const settle of this.#ending.values()) settle(this.#failure)
    this.#ending.clear()
    this.#onEnd()
  }
}
