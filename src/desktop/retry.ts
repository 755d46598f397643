/**
 * How long to wait before another attempt to reach a display server, or to start a helper process.
 *
 * @module
 */

/** First and longest wait. There is one program that waits, so that there is nothing to spread. */
export const FIRST_RETRY_MS = 300
export const LAST_RETRY_MS = 30_000

/**
 * Doubles the wait.
 *
 * @param lastMs The wait before the last attempt; `undefined` before the first one.
 * @returns Milliseconds.
 */
export function nextRetry(lastMs: number | undefined): number {
  return lastMs === undefined ? FIRST_RETRY_MS : Math.min(2 * lastMs, LAST_RETRY_MS)
}
