/** Gives the time and timers, so that tests can replace them. @module */

/** The time of a machine, or of a test. */
export interface Clock {
  /** Wall-clock time in Unix milliseconds. May jump. */
  now(): number
  /** Milliseconds since some moment; never jumps. Everything that measures a duration uses it. */
  monotonic(): number
  /** Calls `run` once. Does not keep the program alive. @returns A function that cancels it. */
  after(delayMs: number, run: () => void): () => void
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
