/**
 * Rows as a table for people.
 * @module
 */

import { formatTable } from '../../src/cli/text-table.ts'
import type { Figure } from './figure.ts'
import type { Row } from './row.ts'

export const HEADING: readonly string[] = [
  '#',
  'what',
  'measured',
  'baseline',
  '',
  'ratio',
  'floor',
  'aim',
  'verdict',
]

export function printRows(rows: readonly Row[]): void {
  for (const line of formatTable([HEADING, ...rows.map(formatCells)], undefined)) console.log(line)
}

/** Those of one line, in the order of the heading. */
export function formatCells(row: Row): readonly string[] {
  const { budget, what, unit, measured, baseline, baselineName, ratio, floor, aim } = row
  return [
    budget,
    what,
    amount(measured, unit),
    amount(baseline, unit),
    baselineName,
    ratio === undefined ? '' : `${ratio.median.toFixed(2)} ±${ratio.spreadPercent.toFixed(0)}%`,
    floor === undefined ? '' : String(floor),
    aim === undefined ? '' : String(aim),
    [row.verdict, row.note].filter((text) => text !== undefined && text !== '').join(': '),
  ]
}

function amount(figure: Figure | undefined, unit: string): string {
  if (figure === undefined) return ''
  const { median, spreadPercent } = figure
  const digits = median < 100 && !Number.isInteger(median) ? 1 : 0
  const spread = figure.values.length > 1 ? ` ±${spreadPercent.toFixed(0)}%` : ''
  return `${median.toFixed(digits)} ${unit}`.trimEnd() + spread
}
