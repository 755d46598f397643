/**
 * How long to wait before another attempt to reach a display server, or to start a helper process.
 * @module
 */

/** The longest wait. One program waits for another here, so that there is nothing to spread. */
export const LAST_RETRY_MS = 30_000

const FIRST_RETRY_MS = 300

/**
 * Doubles the wait.
 *
 * @param lastMs The wait before the last attempt; `undefined` before the first one.
 * @returns Milliseconds.
 */
export function nextRetry(lastMs: number | undefined): number {
  return lastMs === undefined ? FIRST_RETRY_MS : Math.min(2 * lastMs, LAST_RETRY_MS)
}
