/**
 * Counts the bytes that all requests of a listener keep in memory until they are answered.
 *
 * Bodies that are read whole are bounded one by one; a hundred of them at once would still be more
 * than a small machine has. One client gets half of it at most, however little of what it announces
 * ever comes: the other half is for the others.
 * @module
 */

import { HttpError } from './http-error.ts'

/** Does not count: a short text gets through whatever others send. */
const SMALL_BYTES: number = 64 * 1024

/** Two of the longest documents. Each costs several times as much while it is served. */
const MAX_HELD_BYTES: number = 32 * 1024 * 1024

/** One of the longest documents. */
const MAX_HELD_BY_ONE: number = 16 * 1024 * 1024

/** The part of one request. */
export interface HeldShare {
  /** See `Call.holdBytes`. */
  hold(count: number, most: number): void
  giveBack(): void
}

/** The bytes that requests hold, with a share for each client. */
export class HeldBytes {
  #held = 0
  readonly #heldBy = new Map<string, number>()

  /** @param client Whose request it is. The share must be given back. */
  open(client: string): HeldShare {
    let size = 0
    let reserved = 0
    return {
      hold: (count, most) => {
        size += count
        if (reserved > 0 || size <= SMALL_BYTES) return
        // At once all that can come: who got in is never turned away halfway.
        const wanted = Math.min(most, MAX_HELD_BY_ONE)
        const isTooMuch =
          this.#of(client) + wanted > MAX_HELD_BY_ONE || this.#held + wanted > MAX_HELD_BYTES
        if (isTooMuch) throw new HttpError('OVERLOADED')
        reserved = wanted
        this.#add(client, wanted)
      },
      giveBack: () => {
        this.#add(client, -reserved)
        reserved = 0
      },
    }
  }

  #of(client: string): number {
    return this.#heldBy.get(client) ?? 0
  }

  #add(client: string, count: number): void {
    this.#held += count
    const held = this.#of(client) + count
    if (held === 0) this.#heldBy.delete(client)
    else this.#heldBy.set(client, held)
  }
}
