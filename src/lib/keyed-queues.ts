/**
 * Runs asynchronous work one at a time for each key, and side by side for different keys.
 *
 * @module
 */

import { SerialQueue } from './serial-queue.ts'

/** Keeps nothing for a key that has no work. */
export class KeyedQueues {
  readonly #queues = new Map<string, { readonly queue: SerialQueue; jobs: number }>()

  /** Work that fails rejects its own promise and does not stop the rest. */
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

  /** Resolves when the work of a key that was handed in by now has ended. */
  async idle(key: string): Promise<void> {
    await this.#queues.get(key)?.queue.idle()
  }
}
