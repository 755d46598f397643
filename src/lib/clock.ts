/** Gives the time and timers, so that tests can replace them. @module */

/** The longest delay that Node's timers take: behind a longer one they fire at once. */
export const LONGEST_TIMER_MS: number = 2 ** 31 - 1

/** The time of a machine, or of a test. */
export interface Clock {
  /** Wall-clock time in Unix milliseconds. May jump. */
  now(): number
  /** Milliseconds since some moment; never jumps. Everything that measures a duration uses it. */
  monotonic(): number
  /**
   * Calls `run` once: after `delayMs`, or after {@link timerDelay} when that is less. Does not keep
   * the program alive.
   *
   * @returns A function that cancels it.
   */
  after(delayMs: number, run: () => void): () => void
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, timerDelay(delayMs))
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Resolves with the outcome of `work`, or with `late` when that takes longer than `patienceMs`. */
export async function within<Value>(
  clock: Pick<Clock, 'after'>,
  patienceMs: number,
  work: Promise<Value>,
  late: Value,
): Promise<Value> {
  let cancel = (): void => undefined
  const patience = new Promise<Value>((resolve) => {
    cancel = clock.after(patienceMs, () => resolve(late))
  })
  try {
    return await Promise.race([work, patience])
  } finally {
    cancel()
  }
}

/** The delay that a timer gets, which may end before its time, and never fires over and over. */
export function timerDelay(delayMs: number): number {
  return Math.min(delayMs, LONGEST_TIMER_MS)
}
