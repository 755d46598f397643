/**
 * A cost at several numbers of something, as one row: what it is at the largest beside what it is
 * at the smallest, and how it grows in between.
 * @module
 */

import type { CurvePoint } from '../support/findings.ts'
import { explain, type Row, type Subject } from '../support/row.ts'
import { formatTick } from '../support/axis.ts'
import { describeGrowth, growthOf } from './fit.ts'

export interface Cost {
  readonly what: string
  readonly unit: string
  /** Number and cost, in rising order. */
  readonly points: readonly CurvePoint[]
}

export interface Counted {
  /** "10 devices", "1 MiB" */
  readonly format: (number: number) => string
  /** What growth is told by: "device", "MiB". */
  readonly step: string
  /** How many of the number make a step. */
  readonly perStep: number
}

export const DEVICES: Counted = {
  format: (number) => (number === 1 ? '1 device' : `${formatTick(number)} devices`),
  step: 'device',
  perStep: 1,
}

export const BYTES: Counted = { format: formatBytes, step: 'MiB', perStep: 2 ** 20 }

/** @param subject What the row is called; `growth` unless told. */
export function growthRow(
  { what, unit, points }: Cost,
  { format, step, perStep }: Counted,
  subject: Subject = 'growth',
): Row {
  const [first, last] = [points.at(0), points.at(-1)]
  if (first === undefined || last === undefined) throw new Error(`"${what}" was not measured`)
  const growth = growthOf(points.map(([number, cost]) => [number / perStep, cost]))
  const each = points.map(([number, cost]) => `${format(number)}: ${formatTick(cost)}`)
  return explain(subject, {
    what: `${what}, ${format(last[0])}`,
    unit,
    measured: [last[1]],
    baseline: [first[1]],
    baselineName: format(first[0]),
    note: `${describeGrowth(growth, unit, step)} (${each.join(', ')})`,
  })
}

function formatBytes(bytes: number): string {
  const [size, unit] = (
    [
      [2 ** 30, 'GiB'],
      [2 ** 20, 'MiB'],
      [2 ** 10, 'KiB'],
    ] as const
  ).find(([least]) => bytes >= least) ?? [1, 'B']
  return `${bytes / size} ${unit}`
}
