/**
 * Ends the wait for a promise or a stream that may never settle; and lets one at a time work on
 * something, whom the next one breaks off.
 *
 * `Promise.race` with one promise for a whole stream would keep a record of each chunk.
 * @module
 */

/** A switch that, once thrown, ends every guarded wait with its reason. */
export class Interruption {
  #reason: Error | undefined
  #reject: ((reason: Error) => void) | undefined
  #close: (() => void) | undefined

  /** Ends the guarded wait under way, and every later one. Only the first reason counts. */
  interrupt(reason: Error): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#reject?.(reason)
    this.#close?.()
  }

  /** Waits for `work`, one at a time. @throws The reason of the interruption. */
  guard<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      work.then(resolve, reject)
      if (this.#reason !== undefined) reject(this.#reason)
    })
  }

  /** Yields the items of `source`. An interruption closes the source, and its reason is thrown. */
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

/** The turn of whoever works. */
export interface Turn extends Pick<Interruption, 'guard' | 'guardAll'> {
  /** Aborted when the turn is broken off. */
  readonly signal: AbortSignal
  /** Ends the turn. Must be called. */
  release(): void
}

/** The turns on one thing. */
export class Turns {
  #interruption: Interruption | undefined
  #abort = new AbortController()
  #released: Promise<void> = Promise.resolve()

  /** Whether somebody works. */
  get isTaken(): boolean {
    return this.#interruption !== undefined
  }

  /** Waits for `work`, for whoever works. @throws The reason for which the turn is broken off. */
  guard<T>(work: Promise<T>): Promise<T> {
    return this.#interruption === undefined ? work : this.#interruption.guard(work)
  }

  /** Breaks off the turn under way, if there is one. @returns Settles when it has ended. */
  interrupt(reason: Error): Promise<void> {
    this.#interruption?.interrupt(reason)
    this.#abort.abort(reason)
    return this.#released
  }

  /** Begins a turn at once. Nobody else may have one. */
  take(): Turn {
    const [interruption, abort] = [new Interruption(), new AbortController()]
    let end = (): void => {}
    this.#interruption = interruption
    this.#abort = abort
    this.#released = new Promise((resolve) => {
      end = resolve
    })
    return {
      guard: (work) => interruption.guard(work),
      guardAll: (bytes) => interruption.guardAll(bytes),
      signal: abort.signal,
      release: () => {
        this.#interruption = undefined
        end()
      },
    }
  }
}
