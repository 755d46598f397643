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

/**
 * Begins a transfer.
 *
 * @returns Checks the pace after a number of bytes in all; throws an `Error` for people.
 */
export function startPace(clock: Clock): (received: number) => void {
  const startedAt = clock.monotonic()
  return (received) => {
    const allowedMs = GRACE_MS + (1000 * received) / LEAST_BYTES_PER_SECOND
    if (clock.monotonic() - startedAt <= allowedMs) return
    throw new Error('The program that owns the clipboard takes too long to hand it over')
  }
}
