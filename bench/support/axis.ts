/**
 * An axis: which part of it is shown, where a value stands on it, and where it has ticks.
 * @module
 */

/** `nines` is for percentiles: as far from 90 to 99 as from 99 to 99.9. */
export type Scale = 'linear' | 'log' | 'nines'

export interface Tick {
  /** From 0 to 1. */
  readonly at: number
  readonly text: string
}

export interface Axis {
  /** From 0 to 1, for values that it was made for. */
  place(value: number): number
  readonly ticks: readonly Tick[]
}

/** A linear axis has about this many steps. */
const STEPS = 6

/** A logarithmic axis of fewer decades has ticks in between as well. */
const FEW_DECADES = 3

const PERCENTILES: readonly number[] = [0, 50, 90, 99, 99.9, 99.99]

/** @param values What must have a place on it; one at least. */
export function createAxis(scale: Scale, values: readonly number[]): Axis {
  if (scale === 'log') return createLogAxis(values)
  if (scale === 'nines') return createNinesAxis(values)
  return createLinearAxis(values)
}

/** `1500000` is `1.5 M`. */
export function formatTick(value: number): string {
  for (const [unit, prefix] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ] as const) {
    if (Math.abs(value) >= unit) return `${Number((value / unit).toPrecision(3))} ${prefix}`
  }
  return String(Number(value.toPrecision(3)))
}

function createLinearAxis(values: readonly number[]): Axis {
  // From zero, so that heights can be compared.
  const low = Math.min(0, ...values)
  const high = Math.max(...values)
  const step = niceStep((high - low) / STEPS || 1)
  const first = Math.floor(low / step)
  const last = Math.max(first + 1, Math.ceil(high / step))
  const place = (value: number): number => (value / step - first) / (last - first)
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
  return { place, ticks: numbers.map((value) => ({ at: place(value), text: formatTick(value) })) }
}

/** 1, 2 or 5 times a power of ten. */
function niceStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step))
  return power * ([1, 2, 5].find((factor) => factor * power >= step) ?? 10)
}

function createLogAxis(values: readonly number[]): Axis {
  const positive = values.filter((value) => value > 0)
  const low = Math.floor(Math.log10(Math.min(...positive)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...positive))))
  // What is not positive stands at the end of the axis.
  const place = (value: number): number =>
    value > 0 ? Math.max(0, (Math.log10(value) - low) / (high - low)) : 0
  const factors = high - low < FEW_DECADES ? [1, 2, 5] : [1]
  const ticks = Array.from({ length: high - low + 1 }, (_, index) => index + low)
    .flatMap((power) => factors.map((factor) => factor * 10 ** power))
    .filter((value) => value <= 10 ** high * 1.001)
  return { place, ticks: ticks.map((value) => ({ at: place(value), text: formatTick(value) })) }
}

function createNinesAxis(values: readonly number[]): Axis {
  const nines = (percentile: number): number => -Math.log10(1 - percentile / 100)
  const end = PERCENTILES.find((each) => each > 0 && each >= Math.max(...values)) ?? 99.99
  const place = (value: number): number => Math.min(1, nines(value) / nines(end))
  const shown = PERCENTILES.filter((each) => each <= end)
  return { place, ticks: shown.map((value) => ({ at: place(value), text: String(value) })) }
}
