/** Lets one at a time work on something; the next one breaks off the one before. @module */

import { Interruption } from '../../lib/interruption.ts'

/** The turn of whoever works. */
export interface Turn {
  /** Yields what `bytes` yields, until the turn is broken off. */
  guardAll(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
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
      guardAll: (bytes) => interruption.guardAll(bytes),
      signal: abort.signal,
      release: () => {
        this.#interruption = undefined
        end()
      },
    }
  }
}
