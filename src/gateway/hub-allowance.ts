/**
 * How much the connections of one device may send to the message hub, all of them together.
 *
 * Each byte of theirs is decoded on the thread that serves everybody, and the system hands over
 * megabytes of them in one turn. Where more comes than any client needs, it stays in the network.
 * @module
 */

import type { Wire } from '../http/reply.ts'
import type { Clock } from '../lib/clock.ts'

/** Bytes that may come at once: two messages of the greatest length, decoded in milliseconds. */
const BURST_BYTES: number = 64 * 1024

/** Bytes that may come in each second, for ever. A client sends a ping of some bytes every 15 s. */
const BYTES_PER_SECOND: number = 16 * 1024

/** Whoever has used it up over and over for this long means it. */
const PATIENCE_MS = 30_000

/** A connection that can be told to wait. */
type HeldWire = Pick<Wire, 'pause' | 'resume'>

/** The allowance of one device. */
export class HubAllowance {
  readonly #clock: Pick<Clock, 'monotonic' | 'after'>
  readonly #wires = new Set<HeldWire>()
  #left = BURST_BYTES
  #countedAt: number
  /** When it was used up for the first time since all of it was there. */
  #usedUpSince: number | undefined
  #isResting = false
  #restedAt = -Infinity

  constructor(clock: Pick<Clock, 'monotonic' | 'after'>) {
    this.#clock = clock
    this.#countedAt = clock.monotonic()
  }

  /** When the connections were last kept waiting: nobody was silent until then. */
  get restedAt(): number {
    return this.#isResting ? this.#clock.monotonic() : this.#restedAt
  }

  /** Lets a connection share it. */
  add(wire: HeldWire): void {
    this.#wires.add(wire)
    if (this.#isResting) wire.pause()
  }

  /** Lets go of a connection that has ended. */
  delete(wire: HeldWire): void {
    this.#wires.delete(wire)
  }

  /**
   * Counts bytes that have come on one of the connections. When it is used up, nothing more is read
   * from any of them until a second's worth is there again.
   *
   * @returns Whether the device is to be borne with: it has not used it up again and again.
   */
  take(bytes: number): boolean {
    const now = this.#clock.monotonic()
    const earned = ((now - this.#countedAt) / 1000) * BYTES_PER_SECOND
    this.#countedAt = now
    this.#left = Math.min(this.#left + earned, BURST_BYTES)
    if (this.#left === BURST_BYTES) this.#usedUpSince = undefined
    this.#left -= bytes
    if (this.#left > 0) return true
    this.#usedUpSince ??= now
    this.#rest()
    return now - this.#usedUpSince < PATIENCE_MS
  }

  #rest(): void {
    if (this.#isResting) return
    this.#isResting = true
    for (const wire of this.#wires) wire.pause()
    const missing = BYTES_PER_SECOND - this.#left
    this.#clock.after((missing / BYTES_PER_SECOND) * 1000, () => {
      this.#isResting = false
      this.#restedAt = this.#clock.monotonic()
      for (const wire of this.#wires) wire.resume()
    })
  }
}
