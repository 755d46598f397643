/**
 * How a cost grows with a number: by how much for each one more, and whether in proportion.
 * @module
 */

import type { CurvePoint } from '../support/findings.ts'

export interface Growth {
  /** The slope of the line through all points with the smallest squares of relative distances. */
  readonly perUnit: number
  /** Where this line begins. */
  readonly base: number
  /** The cost of the largest number beside that of the smallest. */
  readonly factor: number
}

/** A cost that differs by less than this over all numbers does not grow: it is noise. */
const NOISE_FACTOR = 1.3

/**
 * @param points Number and cost; two different numbers at least. Relative distances, so that the
 *   largest number does not decide alone.
 */
export function growthOf(points: readonly CurvePoint[]): Growth {
  let [weight, sumX, sumY, sumXX, sumXY] = [0, 0, 0, 0, 0]
  for (const [x, y] of points) {
    const own = 1 / Math.max(y, Number.EPSILON) ** 2
    weight += own
    sumX += own * x
    sumY += own * y
    sumXX += own * x * x
    sumXY += own * x * y
  }
  const perUnit = (weight * sumXY - sumX * sumY) / (weight * sumXX - sumX * sumX)
  const sorted = points.toSorted(([a], [b]) => a - b)
  const [first, last] = [sorted.at(0)?.[1] ?? Number.NaN, sorted.at(-1)?.[1] ?? Number.NaN]
  return { perUnit, base: (sumY - perUnit * sumX) / weight, factor: last / first }
}

/** "85 + 0.012 ms a device", or "does not grow". */
export function describeGrowth(growth: Growth, unit: string, of: string): string {
  const { perUnit, base, factor } = growth
  if (factor < NOISE_FACTOR && factor > 1 / NOISE_FACTOR) return 'does not grow'
  const [start, step] = [base, perUnit].map((value) => Number(value.toPrecision(2)))
  return `${start} ${unit} and ${step} ${unit} a ${of}`
}
