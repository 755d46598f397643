/**
 * Ends the waiting for something that may never come.
 *
 * `Promise.race` with one promise for a whole stream would keep a record of each chunk.
 *
 * @module
 */

export class Interruption {
  #reason: Error | undefined
  #reject: ((reason: Error) => void) | undefined
  #close: (() => void) | undefined

  /** Ends what is guarded now, and what will be. */
  interrupt(reason: Error): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#reject?.(reason)
    this.#close?.()
  }

  /**
   * Waits for `work`; only one at a time is guarded.
   *
   * @throws The reason of the interruption; what `work` itself does is lost then.
   */
  guard<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      work.then(resolve, reject)
      if (this.#reason !== undefined) reject(this.#reason)
    })
  }

  /** The items of `source`, until the interruption, which is thrown; the source is closed then. */
  guardAll<T>(source: AsyncIterable<T>): AsyncIterable<T> {
    return { [Symbol.asyncIterator]: () => this.#guardIterator(source[Symbol.asyncIterator]()) }
  }

  // No generator: it would cost an upload three turns for each chunk.
  #guardIterator<T>(iterator: AsyncIterator<T>): AsyncIterator<T> {
    this.#close = () => {
      // Not awaited: a generator does not close before its next item comes.
      iterator.return?.().catch(() => undefined)
    }
    return {
      next: () => this.guard(iterator.next()),
      return: async () => {
        await iterator.return?.()
        return { done: true, value: undefined }
      },
    }
  }
}
