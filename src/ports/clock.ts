/**
 * Port: time, so that tests own it.
 *
 * @module
 */

export interface Clock {
  /** Wall-clock time in Unix milliseconds. May jump. */
  now(): number
  /** Milliseconds since some moment; never jumps. Everything that measures a duration uses it. */
  monotonic(): number
  /**
   * Calls `run` once, after `delayMs`. Does not keep the program alive.
   *
   * @returns Cancels it.
   */
  after(delayMs: number, run: () => void): () => void
}
