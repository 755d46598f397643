/** How long to wait before the next attempt to connect. @module */

/** The first wait is shorter than this. */
const SHORTEST_MS = 500

/** No wait is longer, unless the server asks for it. */
const LONGEST_MS = 30_000

/** The longest pause that a server may ask for: a mistake must not silence clients for long. */
const MAX_RETRY_AFTER_MS: number = 5 * 60_000

/**
 * Exponential, with full jitter: clients that lost the same server do not come back together.
 *
 * @param failures How many attempts have failed before, in a row.
 * @param random From 0 to below 1.
 * @param retryAfterMs What the server asked for; waited for in any case, up to five minutes.
 */
export function backOff(failures: number, random: number, retryAfterMs: number = 0): number {
  const range = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** failures)
  return Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) + random * range
}
