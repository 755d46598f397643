/**
 * Runs asynchronous work one at a time, in the order it was asked for.
 *
 * @module
 */

/** Work that fails rejects its own promise and does not stop the rest. */
export class SerialQueue {
  #tail: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work)
    this.#tail = result.catch(() => undefined)
    return result
  }

  /** Resolves when everything asked for so far has ended. */
  async idle(): Promise<void> {
    await this.#tail
  }
}
