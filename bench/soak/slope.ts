/**
 * Whether something grows, and how sure that is: the slope of Theil and Sen, which outliers do not
 * move, with the confidence interval that Kendall's tau gives (Hollander and Wolfe, 9.3).
 * @module
 */

import { median } from '../support/figure.ts'

/** A value at a time, in whatever units. */
export interface Point {
  readonly at: number
  readonly value: number
}

export interface Slope {
  readonly perUnit: number
  /** 95 % confidence, as far as the points do not depend on each other. */
  readonly low: number
  readonly high: number
}

/** 95 % of a normal distribution lie within this many standard deviations. */
const Z = 1.96

/** @returns `undefined` for fewer than ten points, from which nothing follows. */
export function slopeOf(points: readonly Point[]): Slope | undefined {
  const n = points.length
  if (n < 10) return undefined
  const slopes: number[] = []
  for (const [index, a] of points.entries()) {
    for (const b of points.slice(index + 1)) slopes.push((b.value - a.value) / (b.at - a.at))
  }
  slopes.sort((a, b) => a - b)
  const spread = Z * Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18)
  const lowest = Math.max(0, Math.floor((slopes.length - spread) / 2))
  const highest = Math.min(slopes.length - 1, Math.ceil((slopes.length + spread) / 2))
  return {
    perUnit: median(slopes),
    low: slopes[lowest] ?? Number.NaN,
    high: slopes[highest] ?? Number.NaN,
  }
}

/**
 * The medians of so many spans of equal length. Memory that was taken a second ago tells what is
 * taken now; medians of longer spans depend on each other much less.
 */
export function mediansOf(points: readonly Point[], spans: number): readonly Point[] {
  const [first, last] = [points.at(0), points.at(-1)]
  if (first === undefined || last === undefined) return []
  const length = (last.at - first.at) / spans
  return Array.from({ length: spans }, (_, index) => {
    const from = first.at + index * length
    const within = points.filter(({ at }) => at >= from && at < from + length)
    return { at: from + length / 2, value: median(within.map(({ value }) => value)) }
  }).filter(({ value }) => !Number.isNaN(value))
}
