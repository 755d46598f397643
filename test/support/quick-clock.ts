/** A clock on which retries come at once, and whose patience with a server never ends. @module */

import { systemClock, type Clock } from '../../src/lib/clock.ts'

const PATIENCE_MS = 20_000

export const quickClock: Clock = {
  ...systemClock,
  after(delayMs, run) {
    if (delayMs > PATIENCE_MS) return () => undefined
    const soon = setImmediate(run)
    return () => clearImmediate(soon)
  },
}
