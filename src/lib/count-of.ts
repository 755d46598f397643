/** Numbers of things as people say them. @module */

/** Formats `1 device`, `2 devices`. */
export function countOf(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`
}

/** A unit of time, in English. */
export type TimeUnit = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second'

const UNITS: readonly (readonly [unit: TimeUnit, ms: number])[] = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
]

/** Milliseconds as whole numbers of the largest unit that fits; `undefined` below a second. */
export function inLargestUnit(ms: number): readonly [count: number, unit: TimeUnit] | undefined {
  const largest = UNITS.find(([, unitMs]) => ms >= unitMs)
  return largest && [Math.floor(ms / largest[1]), largest[0]]
}
