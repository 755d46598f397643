/**
 * The frame of a bench file: a place for its files, an end for what it started, a table for what
 * it found.
 * @module
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AsyncCleanup } from '../../src/lib/async-cleanup.ts'
import type { Findings } from './findings.ts'
import { printRows } from './print-rows.ts'
import type { Row } from './row.ts'

export interface BenchContext {
  /** Undoes, last first, also after a failure or a signal. */
  readonly cleanup: AsyncCleanup
  /** An empty folder on a real disk, removed afterwards. */
  readonly folder: string
}

/**
 * Runs a bench file, which finds rows, or rows and curves. They go to `run.ts`, if that has started
 * it, and the rows to the screen.
 *
 * A failure ends the process with 1.
 */
export async function bench(
  measure: (context: BenchContext) => Promise<readonly Row[] | Findings>,
): Promise<void> {
  const cleanup = new AsyncCleanup()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void cleanup.run().finally(() => process.exit(1)))
  }
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-bench-'))
  cleanup.add(() => rm(folder, { recursive: true, force: true }))
  try {
    const found = await measure({ cleanup, folder })
    const findings: Findings = 'rows' in found ? found : { rows: found, curves: [] }
    printRows(findings.rows)
    process.send?.(findings)
  } finally {
    await cleanup.run()
  }
}
