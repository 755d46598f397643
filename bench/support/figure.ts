/**
 * What several rounds gave, in one number and how far to trust it.
 * @module
 */

export interface Figure {
  readonly median: number
  /** Median distance from the median, in percent of it. */
  readonly spreadPercent: number
  readonly values: readonly number[]
}

export function figureOf(values: readonly number[]): Figure {
  const middle = median(values)
  const distance = median(values.map((value) => Math.abs(value - middle)))
  return { median: middle, spreadPercent: middle === 0 ? 0 : (100 * distance) / middle, values }
}

/**
 * Ratios of figures that were taken side by side, round for round: what slowed down the machine
 * for a while was slow for both.
 */
export function ratioOf(measured: readonly number[], baseline: readonly number[]): Figure {
  return figureOf(measured.map((value, round) => value / (baseline[round] ?? Number.NaN)))
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2
}
