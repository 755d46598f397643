/**
 * Verifications that wait for a worker, in four rows. The row that was served longest ago is next,
 * so a crowd in one row delays whoever waits in another one by one verification at most.
 *
 * 1. Devices at the network where each was seen last: one place for each user name.
 * 2. Devices at other networks: one place for each user name.
 * 3. Credentials that were turned away before.
 * 4. All others.
 *
 * The places of the first two rows are not counted against the capacity of the queue, and nobody
 * can take one but a client that knows the user name. So made-up names cannot fill the queue,
 * however many addresses they come from.
 * @module
 */

import { FairQueue } from '../lib/fair-queue.ts'

/** Where a verification waits. */
export interface Place {
  /** Verifications of one lane share one part of the third and fourth row. */
  readonly lane: string
  /** These credentials were turned away before. */
  readonly comesAgain: boolean
  /** The place that is kept for a device; the verification waits with the others if it is taken. */
  readonly reservation?: Reservation | undefined
}

/** The place that is kept for a device. */
export interface Reservation {
  readonly username: string
  /** The client asks from the network where the device was seen last. */
  readonly isAtUsualNetwork: boolean
}

interface Row<Item> {
  readonly size: number
  take(): Item | undefined
  /** @returns Whether the item was waiting. */
  delete(item: Item): boolean
}

/** The verifications that wait. */
export class VerificationQueue<Item extends NonNullable<unknown>> {
  readonly #usual = new ReservedPlaces<Item>()
  readonly #elsewhere = new ReservedPlaces<Item>()
  readonly #returning: FairQueue<Item>
  readonly #others: FairQueue<Item>
  /** The row that was served longest ago comes first. */
  #rows: readonly Row<Item>[]

  /** @param capacity How many may wait in the third row, and how many in the fourth. */
  constructor(capacity: number) {
    this.#returning = new FairQueue(capacity)
    this.#others = new FairQueue(capacity)
    this.#rows = [this.#usual, this.#elsewhere, this.#returning, this.#others]
  }

  get size(): number {
    return this.#rows.reduce((size, row) => size + row.size, 0)
  }

  /** @returns The item that does not wait any longer, if there was no room. */
  add(item: Item, { lane, comesAgain, reservation }: Place): Item | undefined {
    if (reservation !== undefined) {
      const row = reservation.isAtUsualNetwork ? this.#usual : this.#elsewhere
      if (row.add(item, reservation.username)) return undefined
    }
    return (comesAgain ? this.#returning : this.#others).add(item, lane)
  }

  /** The item whose turn it is. */
  take(): Item | undefined {
    const next = this.#rows.find((row) => row.size > 0)
    if (next === undefined) return undefined
    this.#rows = [...this.#rows.filter((row) => row !== next), next]
    return next.take()
  }

  /** @returns Whether the item was waiting. */
  delete(item: Item): boolean {
    return this.#rows.some((row) => row.delete(item))
  }
}

/** One item for each name, in the order in which they came. */
class ReservedPlaces<Item extends NonNullable<unknown>> implements Row<Item> {
  readonly #items = new Map<string, Item>()

  get size(): number {
    return this.#items.size
  }

  /** @returns Whether the place was free. */
  add(item: Item, name: string): boolean {
    if (this.#items.has(name)) return false
    this.#items.set(name, item)
    return true
  }

  take(): Item | undefined {
    for (const [name, item] of this.#items) {
      this.#items.delete(name)
      return item
    }
    return undefined
  }

  delete(item: Item): boolean {
    for (const [name, waiting] of this.#items) {
      if (waiting === item) return this.#items.delete(name)
    }
    return false
  }
}
