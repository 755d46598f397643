/**
 * What all requests of a listener together keep in memory until they are answered.
 *
 * Bodies that are read whole are bounded one by one; a hundred of them at once would still be more
 * than a small machine has.
 *
 * @module
 */

import { HttpError } from './http-error.ts'

/** Does not count: a short text gets through whatever others send. */
const SMALL_BYTES: number = 64 * 1024

/** Two of the longest documents. Each costs several times as much while it is served. */
const MAX_HELD_BYTES: number = 32 * 1024 * 1024

/** The part of one request. */
export interface HeldShare {
  /** See `Call.holdBytes`. */
  hold(count: number, most: number): void
  giveBack(): void
}

export class HeldBytes {
  #held = 0

  /** The share must be given back. */
  open(): HeldShare {
    let size = 0
    let reserved = 0
    return {
      hold: (count, most) => {
        size += count
        if (reserved > 0 || size <= SMALL_BYTES) return
        // At once all that can come: who got in is never turned away halfway.
        const wanted = Math.min(most, MAX_HELD_BYTES)
        if (this.#held + wanted > MAX_HELD_BYTES) throw new HttpError('OVERLOADED')
        reserved = wanted
        this.#held += wanted
      },
      giveBack: () => {
        this.#held -= reserved
      },
    }
  }
}
