/** Gives the time and timers, so that tests can replace them. @module */

/** The longest delay that timers take: behind a longer one they fire at once. */
export const LONGEST_TIMER_MS: number = 2 ** 31 - 1

/** The time of a machine, or of a test. */
export interface Clock {
  /** Wall-clock time in Unix milliseconds. May jump. */
  now(): number
  /** Milliseconds since some moment; never jumps. Everything that measures a duration uses it. */
  monotonic(): number
  /**
   * Calls `run` once: after `delayMs`, or after {@link timerDelay} when that is less. Does not keep
   * the program alive, unless the clock is {@link keepAliveClock}.
   *
   * @returns A function that cancels it.
   */
  after(delayMs: number, run: () => void): () => void
}

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, timerDelay(delayMs))
    unref(timer)
    return () => clearTimeout(timer)
  },
}

/** The same for clients: a program that waits for its next attempt does not end meanwhile. */
export const keepAliveClock: Clock = {
  ...systemClock,
  after(delayMs, run) {
    const timer = setTimeout(run, timerDelay(delayMs))
    return () => clearTimeout(timer)
  },
}

/** Makes what all parts of a program have in common: programs have one clock, each test its own. */
export function perClock<Value>(make: (clock: Clock) => Value): (clock: Clock) => Value {
  const made = new WeakMap<Clock, Value>()
  return (clock) => {
    const value = made.get(clock) ?? make(clock)
    made.set(clock, value)
    return value
  }
}

/** Timers of browsers are numbers, and keep nothing alive. */
function unref(timer: number | { unref(): unknown }): void {
  if (typeof timer === 'object') timer.unref()
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

/** Resolves after `delayMs`; rejects with the reason of `signal` when that aborts before. */
export function sleep(
  clock: Pick<Clock, 'after'>,
  delayMs: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const onAbort = (): void => {
      cancel()
      reject(signal.reason)
    }
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** The delay that a timer gets, which may end before its time, and never fires over and over. */
export function timerDelay(delayMs: number): number {
  return Math.min(delayMs, LONGEST_TIMER_MS)
}
