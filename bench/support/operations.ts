/**
 * How often a second something small can be done, in this process.
 * @module
 */

import { contender, type Contender } from './rounds.ts'

/** Long enough for the clock, short enough that other programs seldom come in between. */
const ROUND_NS = 5_000_000

/** A contender measured in calls a second. Give it work whose result is used. */
export function operations(run: () => unknown): Contender<number> {
  const count = calibrate(run)
  return contender(async () => (1e9 * count) / timeCalls(run, count))
}

/** Finds how many calls fill a round; doubles as warm-up. */
function calibrate(run: () => unknown): number {
  for (let count = 1; ; count *= 2) if (timeCalls(run, count) > ROUND_NS) return count
}

// Or the engine would leave out calls whose result nobody wants.
let sink: unknown

function timeCalls(run: () => unknown, count: number): number {
  const start = process.hrtime.bigint()
  for (let call = 0; call < count; call++) sink = run()
  return Number(process.hrtime.bigint() - start) + (sink === timeCalls ? 1 : 0)
}
