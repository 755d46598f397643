/**
 * What a run found, as a page: the machine, the table, the plots.
 * @module
 */

import type { Machine, Result } from './findings.ts'
import { formatCells, HEADING } from './print-rows.ts'

/** @param plots Title and file of each. */
export function formatReport(
  { at, isQuick, machine, rows }: Result,
  plots: readonly (readonly [title: string, file: string])[],
): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(' | ')} |`
  return [
    '# Measured',
    '',
    `${isQuick ? '**QUICK: these figures are noise.** ' : ''}${describeMachine(machine)}, ${at}.`,
    'Written by `make bench`; what the rows mean is in [the budgets](../../docs/performance.md#budgets).',
    '',
    line(HEADING),
    line(HEADING.map(() => '---')),
    ...rows.map((row) => line(formatCells(row))),
    '',
    ...plots.flatMap(([title, file]) => [`![${title}](${file})`, '']),
  ].join('\n')
}

export function describeMachine(machine: Machine): string {
  const { node, system, processor, cores, memoryGiB, load } = machine
  const size = `${cores} cores of ${processor}, ${memoryGiB} GiB, load ${load} before`
  return `Node ${node}, ${system}, ${size}`
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|')
}
