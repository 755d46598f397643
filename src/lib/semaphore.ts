/** Limits how many pieces of asynchronous work run at a time; the rest wait in turn. @module */

/** A limit on the work that runs at a time. */
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
