/** Time and chance, as a client meets them; tests bring their own. @module */

/** Longer timers fire at once; `lib/clock.ts` has the same for programs, which this is not only. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The clock and the dice of a client. */
export interface Timing {
  /** Milliseconds since some moment; never jumps. */
  monotonic(): number
  /** Calls `run` once, after `delayMs`. Keeps a program alive. @returns Cancels it. */
  after(delayMs: number, run: () => void): () => void
  /** From 0 to below 1. */
  random(): number
}

/** The time of this machine. */
export const systemTiming: Timing = {
  monotonic: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, LONGEST_TIMER_MS))
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
}

/** Resolves after `delayMs`; rejects with the reason of `signal` when that aborts before. */
export function sleep(timing: Timing, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const onAbort = (): void => {
      cancel()
      reject(signal.reason)
    }
    const cancel = timing.after(delayMs, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
