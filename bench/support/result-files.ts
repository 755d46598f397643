/**
 * Keeps what a run found, in `bench/results/`: as JSON, as a page, and as plots.
 * @module
 */

import { mkdir, writeFile } from 'node:fs/promises'
import type { Result } from './findings.ts'
import { formatReport } from './report.ts'
import { drawPlots } from './plots.ts'

const FOLDER = new URL('../results/', import.meta.url)

/** @param name What the files begin with, so that a partial run does not replace a full one. */
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
}
