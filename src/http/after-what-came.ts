/**
 * A timer for clients that are silent.
 *
 * A machine that was asleep, or a program that was stopped, finds its timers due before it has
 * looked at what came meanwhile. This one looks first.
 *
 * @module
 */

export interface SilenceTimer {
  /** Begins anew. */
  refresh(): void
  cancel(): void
}

/** Calls back after so long without a refresh, unless what has come by then refreshes it. */
export function afterWhatCame(delayMs: number, run: () => void): SilenceTimer {
  let late: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    // Behind the events of the sockets.
    late = setImmediate(run)
  }, delayMs).unref()
  return {
    refresh: () => {
      clearImmediate(late)
      timer.refresh()
    },
    cancel: () => {
      clearImmediate(late)
      clearTimeout(timer)
    },
  }
}
