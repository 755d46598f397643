/** Runs asynchronous work one at a time, in the order it was asked for. @module */

/** One queue. Work that fails rejects its own promise and does not stop the rest. */
export class SerialQueue {
  #tail: Promise<unknown> = Promise.resolve()

  /** Runs `work` when everything asked for before has ended, and resolves to its result. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work)
    this.#tail = result.catch(() => undefined)
    return result
  }

  /** Resolves when all work asked for so far has ended. */
  async idle(): Promise<void> {
    await this.#tail
  }
}

/** A queue for each key; the queues run side by side. Keeps nothing for a key without work. */
export class KeyedQueues {
  readonly #queues = new Map<string, { readonly queue: SerialQueue; jobs: number }>()

  /** Runs `work` when the work of `key` asked for before has ended. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const entry = this.#queues.get(key) ?? { queue: new SerialQueue(), jobs: 0 }
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
