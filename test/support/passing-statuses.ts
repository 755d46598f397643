/** Answers after which the rest of a file is taken, or not: one table for everybody who brings one. @module */

/** The rest may be taken a moment later; many of these are of proxies, and of nobody else. */
export const PASSING: readonly number[] = [
  ...[408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 530, 599],
]

/** It would be so each time. */
export const LASTING: readonly number[] = [400, 401, 403, 405, 413, 415, 422, 499, 507]
