/**
 * A timer for clients that are silent.
 *
 * A machine that was asleep, or a program that was stopped, finds its timers due before it has
 * looked at what came meanwhile. This timer looks first.
 * @module
 */

import type { Clock } from '../lib/clock.ts'

/** A timer that was set by {@link afterWhatCame}. */
export interface SilenceTimer {
  /** Begins the delay again, also when it is over. */
  refresh(): void
  /** Ends the timer: nothing is called any more. */
  cancel(): void
}

/** Calls `run` after `delayMs` without a refresh, unless what has come by then refreshes it. */
export function afterWhatCame(
  clock: Pick<Clock, 'monotonic' | 'after'>,
  delayMs: number,
  run: () => void,
): SilenceTimer {
  let since = clock.monotonic()
  let late: NodeJS.Immediate | undefined
  let cancelTimer: (() => void) | undefined

  function wait(ms: number): void {
    cancelTimer = clock.after(ms, () => {
      // Behind the events of the sockets.
      late = setImmediate(look)
    })
  }

  function look(): void {
    cancelTimer = undefined
    const leftMs = since + delayMs - clock.monotonic()
    if (leftMs > 0) wait(leftMs)
    else run()
  }

  wait(delayMs)
  return {
    refresh: () => {
      since = clock.monotonic()
      if (cancelTimer === undefined) wait(delayMs)
    },
    cancel: () => {
      cancelTimer?.()
      clearImmediate(late)
    },
  }
}
