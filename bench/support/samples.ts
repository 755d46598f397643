/**
 * What was measured many times: as quantiles, as a curve of them, and as a curve over time.
 * @module
 */

import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'
import type { CurvePoint } from './findings.ts'

const PERCENTILES: readonly number[] = [0, 25, 50, 75, 90, 95, 99, 99.5, 99.9]

/** The value that this share of all does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** Percentiles, as far as there are enough values for them. */
export function percentileCurve(values: readonly number[]): readonly CurvePoint[] {
  const known = PERCENTILES.filter((each) => values.length * (1 - each / 100) >= 1)
  return known.map((percentile) => [percentile, quantile(values, percentile / 100)])
}

export interface Sampler {
  /** Seconds since its start, and what was read then. */
  readonly points: readonly CurvePoint[]
  stop(): void
}

/** Reads a value now and then, until it is stopped or the bench ends. */
export function sample(cleanup: AsyncCleanup, everyMs: number, read: () => number): Sampler {
  const points: CurvePoint[] = []
  const start = performance.now()
  const take = (): void => void points.push([(performance.now() - start) / 1000, read()])
  take()
  const timer = setInterval(take, everyMs)
  const stop = (): void => clearInterval(timer)
  cleanup.add(stop)
  return { points, stop }
}
