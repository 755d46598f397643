/**
 * Runs bench files, each in a process of its own, and sums up what they found, in
 * `bench/results/` and as a table.
 *
 * `QUICK=1` has fewer rounds and smaller bodies. `GUARD=1` runs only what is guarded, and fails
 * when that is too bad three times; a bench that crashes always is a failure.
 * @module
 */

import { arch, availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os'
import { basename } from 'node:path'
import { BUDGETS } from './support/budgets.ts'
import type { Curve, Machine } from './support/findings.ts'
import { formatBreach, guard, isGuardedFile, guardOf } from './support/guard.ts'
import { GUARDS } from './support/guards.ts'
import { printRows } from './support/print-rows.ts'
import { describeMachine } from './support/report.ts'
import { writeResult } from './support/result-files.ts'
import { isQuick } from './support/rounds.ts'
import { runFiles } from './support/run-files.ts'
import type { Row } from './support/row.ts'

/** Another program comes in between once or twice, and hardly each time. */
const TRIES = 3

const machine: Machine = {
  node: process.version,
  system: `${type()} ${release()} ${arch()}`,
  processor: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  load: Number((loadavg()[0] ?? 0).toFixed(1)),
}

void main(process.argv.slice(2))

async function main(paths: readonly string[]): Promise<void> {
  if (paths.length === 0) throw new Error('No bench files were given')
  await (process.env['GUARD'] === '1' ? guardFiles(paths) : measureFiles(paths))
}

async function measureFiles(paths: readonly string[]): Promise<void> {
  const { rows, curves, crashed } = await runFiles(paths)
  const name = isQuick ? 'quick' : paths.length === 1 ? nameOf(paths[0] ?? '') : 'latest'
  await keep(name, rows, curves)
  reportCrashes(crashed)
}

async function guardFiles(paths: readonly string[]): Promise<void> {
  const files = new Map(paths.map((path) => [nameOf(path), path]))
  const crashed: string[] = []
  const breaches = await guard({
    files: [...files.keys()].filter(isGuardedFile),
    tries: TRIES,
    measure: async (names) => {
      const found = await runFiles(names.map((name) => files.get(name) ?? name))
      crashed.push(...found.crashed)
      await keep('guard', found.rows, found.curves)
      return found.rows
    },
  })
  console.log('\nNot guarded:')
  for (const [budget, each] of Object.entries(GUARDS)) {
    if ('unguarded' in each) console.log(`  ${budget}: ${each.unguarded}`)
  }
  console.log('Guarded by another limit than the floor:')
  // Its keys are the budgets.
  for (const budget of Object.keys(GUARDS) as (keyof typeof GUARDS)[]) {
    const { limit, because } = guardOf(budget) ?? {}
    if (because === undefined) continue
    console.log(`  ${budget}: ${limit} instead of ${BUDGETS[budget].floor}, since ${because}`)
  }
  for (const breach of breaches) console.error(`\nWORSE THAN ALLOWED: ${formatBreach(breach)}`)
  if (breaches.length > 0) {
    console.error(`\nEach was measured ${TRIES} times. Its limit is in bench/support/guards.ts.`)
    process.exitCode = 1
  }
  reportCrashes(crashed)
}

async function keep(name: string, found: readonly Row[], curves: readonly Curve[]): Promise<void> {
  // Rows of one budget come from several files.
  const order = [...Object.keys(BUDGETS), 'small', 'growth']
  const rows = found.toSorted((a, b) => order.indexOf(a.budget) - order.indexOf(b.budget))
  await writeResult(name, { at: new Date().toISOString(), isQuick, machine, rows, curves })
  const seconds = Math.round(process.uptime())
  console.log(`\n${isQuick ? 'QUICK, ' : ''}${describeMachine(machine)}; ${seconds} s so far\n`)
  printRows(rows)
}

function reportCrashes(crashed: readonly string[]): void {
  for (const path of crashed) console.error(`\n${basename(path)} crashed`)
  if (crashed.length > 0) process.exitCode = 1
}

/** `upload` of `bench/upload.bench.ts`. */
function nameOf(path: string): string {
  return basename(path).replace(/(?:\.bench)?\.ts$/, '')
}
