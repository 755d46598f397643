/**
 * Keeps what a run found, in `bench/results/`: as JSON, as a page, and as plots.
 * @module
 */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { drawPlots } from './plots.ts'
import { formatCells } from './print-rows.ts'
import { updateFigures } from './readme-figures.ts'
import { formatReport } from './report.ts'
import type { Result } from './findings.ts'

const FOLDER = new URL('../results/', import.meta.url)
const README = new URL('../../README.md', import.meta.url)

/**
 * @param name What the files begin with, so that a partial run does not replace a full one: that is
 *   `latest`, whose figures README.md gets, too.
 */
export async function writeResult(name: string, result: Result): Promise<void> {
  await mkdir(FOLDER, { recursive: true })
  const plots = drawPlots(result.curves)
  const shown = plots.map(({ plot, title }) => [title, `${name}-${plot}.svg`] as const)
  const files = [
    [`${name}.json`, `${JSON.stringify(result, undefined, 2)}\n`],
    [`${name}.md`, formatReport(result, shown)],
    ...plots.map(({ plot, svg }) => [`${name}-${plot}.svg`, svg]),
  ] as const
  for (const [file = '', text = ''] of files) await writeFile(new URL(file, FOLDER), text)
  if (name !== 'latest') return
  const page = await readFile(README, 'utf8')
  await writeFile(README, updateFigures(page, result.rows.map(formatCells)))
}
