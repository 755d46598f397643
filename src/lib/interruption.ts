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

  /** Ends what is guarded now, and what will be. */
  interrupt(reason: Error): void {
    this.#reason ??= reason
    this.#reject?.(this.#reason)
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

  /** The items of `source`, until the interruption, which is thrown. */
  async *guardAll<T>(source: AsyncIterable<T>): AsyncGenerator<T, void> {
    const iterator = source[Symbol.asyncIterator]()
    try {
      for (;;) {
        const { done, value } = await this.guard(iterator.next())
        if (done === true) return
        yield value
      }
    } finally {
      const closed = iterator.return?.()
      // A source that has been interrupted does not close before its next item comes.
      if (this.#reason === undefined) await closed
      else closed?.catch(() => undefined)
    }
  }
}
