/**
 * Bounds how long a whole transfer from another program may take. Each piece has a time limit of
 * its own, which a program that hands out single bytes never reaches: 16 MiB would take hours.
 * @module
 */

import { MIB } from '../core/limits.ts'
import type { Clock } from '../lib/clock.ts'

/** Every transfer may take this long, however little comes. */
const GRACE_MS = 30_000

/** A display at the other end of a mobile connection is faster. */
const LEAST_BYTES_PER_SECOND: number = MIB / 16

/** The pace of one transfer. */
export class TransferPace {
  readonly #clock: Clock
  readonly #startedAt: number

  /** The transfer begins now. */
  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedAt = clock.monotonic()
  }

  /** Checks the pace after `received` bytes in all. @throws {Error} For people, when too slow. */
  check(received: number): void {
    const allowedMs = GRACE_MS + (1000 * received) / LEAST_BYTES_PER_SECOND
    if (this.#clock.monotonic() - this.#startedAt <= allowedMs) return
    throw new Error('The program that owns the clipboard takes too long to hand it over')
  }
}
