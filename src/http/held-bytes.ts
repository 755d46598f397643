/**
 * Counts the bytes that all requests of a listener keep in memory until they are answered.
 *
 * Bodies that are read whole are bounded one by one; a hundred of them at once would still be more
 * than a small machine has. One client gets half of it at most, however little of what it announces
 * ever comes: the other half is for the others.
 * @module
 */

import { Shares } from '../lib/shares.ts'
import { HttpError } from './http-error.ts'

/** So few of a request, or of an answer, do not count: all connections may have them at once. */
export const SMALL_BYTES: number = 16 * 1024

/** For what is not longer, no more is set aside. */
export const SHORT_BYTES: number = 64 * 1024

/** A longer body takes several times as much memory; see `memory-turn.ts`. */
export const LONG_BYTES: number = 1024 * 1024

/** Two of the longest documents. Each costs several times as much while it is served. */
const MAX_HELD_BYTES: number = 32 * 1024 * 1024

/** One of the longest documents. */
const MAX_HELD_BY_ONE: number = 16 * 1024 * 1024

/** Bodies that are read as they come: each takes some 256 KiB, however long it is. */
const MAX_STREAMED = 512

/** Bytes that answers share, but for the newest, which are there whether they are read or not. */
const MAX_SHARED_BYTES: number = 16 * 1024 * 1024

/** The bytes that requests hold, with a share for each client. */
export class HeldBytes {
  readonly #held = new Shares()
  readonly #streamed = new Shares()
  /** The answers that have the same bytes, by these; the oldest bytes first. */
  readonly #readers = new Map<Uint8Array, Set<() => void>>()

  /**
   * Sets aside all that can come of a request: whoever got in is never turned away halfway.
   *
   * @param client Whose request it is.
   * @returns Gives the bytes back, which must be done; calling it twice is fine.
   * @throws {HttpError} `OVERLOADED`.
   */
  reserve(client: string, most: number): () => void {
    const count = Math.min(most, MAX_HELD_BY_ONE)
    return take(this.#held, client, count, [MAX_HELD_BY_ONE, MAX_HELD_BYTES])
  }

  /**
   * Counts a body that is read as it comes, apart from the others: an upload that takes hours keeps
   * no document away. One client may have as many as are left for the others.
   *
   * @returns As {@link reserve}.
   * @throws {HttpError} `OVERLOADED`.
   */
  reserveStreamed(client: string): () => void {
    return take(this.#streamed, client, 1, [MAX_STREAMED - this.#streamed.total, MAX_STREAMED])
  }

  /**
   * Counts bytes once that several answers have: what is current now, however many read it. Those
   * who still read what was current earlier give way when it becomes too much, the oldest first:
   * it is out of date, and they are told so.
   *
   * @param giveWay Breaks the answer off.
   * @returns Takes the answer out again, which must be done; `undefined` for bytes that are few.
   */
  share(bytes: Uint8Array, giveWay: () => void): (() => void) | undefined {
    if (bytes.length <= SMALL_BYTES) return undefined
    const readers = this.#readers.get(bytes) ?? new Set()
    this.#readers.set(bytes, readers.add(giveWay))
    let earlier = 0
    for (const [other, its] of [...this.#readers].reverse()) {
      if (other !== bytes) earlier += other.length
      if (other !== bytes && earlier > MAX_SHARED_BYTES) for (const end of its) end()
    }
    return () => {
      readers.delete(giveWay)
      if (readers.size === 0) this.#readers.delete(bytes)
    }
  }
}

function take(
  held: Shares,
  client: string,
  count: number,
  [byOne, all]: readonly [byOne: number, all: number],
): () => void {
  const isTooMuch = held.of(client) + count > byOne || held.total + count > all
  if (isTooMuch) throw new HttpError('OVERLOADED')
  held.add(client, count)
  let reserved = count
  return () => {
    held.add(client, -reserved)
    reserved = 0
  }
}
