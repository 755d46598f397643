/**
 * Keeps a daemon alive when something fails that nobody waits for; see
 * docs/decisions/014-unhandled-failures.md.
 *
 * For a program only: a library must not decide about the process of others.
 * @module
 */

import { randomBytes } from 'node:crypto'
import { describeFailure } from '../lib/describe-failure.ts'
import type { Logger } from '../ports/logger.ts'

/** From now on, exceptions and rejections that nobody handles are logged, once each. */
export function surviveFailures(logger: Logger): void {
  // Node raises rejections here too.
  process.on('uncaughtException', (thrown, origin) => {
    const id = randomBytes(6).toString('hex')
    logger.error('Something failed that nobody handles', { id, origin, ...describeFailure(thrown) })
  })
}
