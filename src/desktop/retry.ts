/** The waits between attempts to reach a display server, or to start a helper. @module */

/** The longest wait. One program waits for another here, so that there is nothing to spread. */
export const LAST_RETRY_MS = 30_000

const FIRST_RETRY_MS = 300

/** Doubles the wait `lastMs`, in milliseconds; `undefined` stands for no attempt before. */
export function nextRetry(lastMs: number | undefined): number {
  return lastMs === undefined ? FIRST_RETRY_MS : Math.min(2 * lastMs, LAST_RETRY_MS)
}
