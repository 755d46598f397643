/**
 * Limits how many pieces of asynchronous work run at a time: the rest wait in turn, or the next one
 * breaks off whoever works. Ends the wait for a promise or a stream that may never settle.
 * @module
 */

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

  /**
   * Runs `work` when the work of `key` asked for before has ended.
   *
   * @throws `signal.reason` when aborted before that.
   */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const entry = this.#queues.get(key) ?? { queue: new Semaphore(1), jobs: 0 }
    this.#queues.set(key, entry)
    entry.jobs += 1
    try {
      return await entry.queue.run(work, signal)
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

/**
 * A switch that, once thrown, ends every guarded wait with its reason. `Promise.race` with one
 * promise for a whole stream would keep a record of each chunk.
 */
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
export interface OwnTurn extends Pick<Interruption, 'guard' | 'guardAll'> {
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
  take(): OwnTurn {
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
