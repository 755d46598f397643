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

/** The verifications that wait. */
export class VerificationQueue<Item extends NonNullable<unknown>> {
  /** A lane is the place of a user name. */
  readonly #usual = new FairQueue<Item>(Infinity)
  readonly #elsewhere = new FairQueue<Item>(Infinity)
  readonly #returning: FairQueue<Item>
  readonly #others: FairQueue<Item>
  /** The row that was served longest ago comes first. */
  #rows: readonly FairQueue<Item>[]

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
      if (!row.has(reservation.username)) return row.add(item, reservation.username)
    }
    return (comesAgain ? this.#returning : this.#others).add(item, lane)
  }

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
