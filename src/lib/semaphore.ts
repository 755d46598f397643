/** Limits how many pieces of asynchronous work run at a time; the rest wait in turn. @module */

/** A limit on the work that runs at a time; with one permit, a queue. */
export class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []

  /** @param permits How many pieces of work may run at a time. */
  constructor(permits: number) {
    this.#free = permits
  }

  /**
   * Runs `work` when there is a permit, and resolves to its result.
   *
   * @throws `signal.reason` when aborted before that; the work itself is not ended.
   */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await this.#wait(signal)
    try {
      return await work()
    } finally {
      // The permit is handed on rather than given back, so that nobody overtakes.
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }

  /** Resolves when all work asked for so far has ended, where one runs at a time. */
  async idle(): Promise<void> {
    await this.run(async () => undefined)
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        reject(signal?.reason)
      }
      const enter = (): void => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      this.#waiting.push(enter)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }
}

/** A queue for each key; the queues run side by side. Keeps nothing for a key without work. */
export class KeyedQueues {
  readonly #queues = new Map<string, { readonly queue: Semaphore; jobs: number }>()

  /** Runs `work` when the work of `key` asked for before has ended. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const entry = this.#queues.get(key) ?? { queue: new Semaphore(1), jobs: 0 }
    this.#queues.set(key, entry)
    entry.jobs += 1
    try {
      return await entry.queue.run(work)
    } finally {
      entry.jobs -= 1
      if (entry.jobs === 0) this.#queues.delete(key)
    }
  }

  /** Resolves when all work of `key` asked for so far has ended. */
  async idle(key: string): Promise<void> {
    await this.#queues.get(key)?.queue.idle()
  }
}
