/** How long to wait before the next attempt. @module */

/** No wait is longer, unless a server asks for it. */
export const LONGEST_RETRY_MS = 30_000

/** The first wait for a server is shorter than this. */
const SHORTEST_MS = 500

/** The longest pause that a server may ask for: a mistake must not silence clients for long. */
const MAX_RETRY_AFTER_MS: number = 5 * 60_000

/** Options of {@link backOff}. */
export interface BackOffOptions {
  /** Gives numbers from 0 to below 1. */
  readonly random?: (() => number) | undefined
  /** The pause that the server asked for; it is kept in any case, up to five minutes. */
  readonly retryAfterMs?: number | undefined
}

/**
 * The wait for a server, in milliseconds: exponential, with full jitter, so that clients that lost
 * the same server do not come back together.
 *
 * @param failures How many attempts have failed before, in a row.
 */
export function backOff(
  failures: number,
  { random = Math.random, retryAfterMs = 0 }: BackOffOptions = {},
): number {
  const range = Math.min(LONGEST_RETRY_MS, SHORTEST_MS * 2 ** failures)
  return Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) + random() * range
}

/** The waits for a folder that failed: one that is moved or mounted again is back by then. */
export const SAVE_RETRIES_MS: readonly number[] = [1000, 10_000, 60_000]

const FIRST_RETRY_MS = 300

/**
 * The wait for a program of this machine, such as a display server or a helper: nobody else waits
 * for it, so that there is nothing to spread. Doubles the wait `lastMs`, in milliseconds;
 * `undefined` stands for no attempt before.
 */
export function nextRetry(lastMs: number | undefined): number {
  return lastMs === undefined ? FIRST_RETRY_MS : Math.min(2 * lastMs, LONGEST_RETRY_MS)
}
