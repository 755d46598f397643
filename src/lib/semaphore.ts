/** Limits how many pieces of asynchronous work run at a time; the rest wait in turn. @module */

/** A limit on the work that runs at a time. */
export class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []

  /** @param permits How many pieces of work may run at a time. */
  constructor(permits: number) {
    this.#free = permits
  }

  /** Runs `work` when there is a permit, and resolves to its result. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      // The permit is handed on rather than given back, so that nobody overtakes.
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
