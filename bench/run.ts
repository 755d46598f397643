/**
 * Runs bench files, each in a process of its own, and sums up what they found, in
 * `bench/results/` and as a table. Its arguments are names of them; see `support/choose-files.ts`.
 *
 * `QUICK=1` has fewer rounds and smaller bodies. `GUARD=1` runs only what is guarded, and fails
 * when that is too bad three times; a bench that crashes always is a failure.
 * @module
 */

import { readdirSync } from 'node:fs'
import { arch, availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BUDGETS } from './support/budgets.ts'
import { chooseFiles, nameOf, type Choice } from './support/choose-files.ts'
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

/** Paths of bench files, by their names. */
const FILES: ReadonlyMap<string, string> = new Map(
  readdirSync(new URL('.', import.meta.url))
    .filter((file) => file.endsWith('.bench.ts') || file === 'small.ts')
    .sort()
    .map((file) => [nameOf(file), fileURLToPath(new URL(file, import.meta.url))]),
)

void main(process.argv.slice(2))

async function main(wanted: readonly string[]): Promise<void> {
  const known = [...FILES.keys()]
  if (process.env['GUARD'] !== '1') await measureFiles(chooseFiles(wanted, known))
  else await guardFiles(chooseFiles(wanted.length === 0 ? ['all'] : wanted, known).files)
}

async function measureFiles({ name, files }: Choice): Promise<void> {
  const { rows, curves, crashed } = await runFiles(files.map(pathOf))
  await keep(isQuick ? 'quick' : name, rows, curves)
  reportCrashes(crashed)
}

async function guardFiles(names: readonly string[]): Promise<void> {
  const crashed: string[] = []
  const breaches = await guard({
    files: names.filter(isGuardedFile),
    tries: TRIES,
    measure: async (files) => {
      const found = await runFiles(files.map(pathOf))
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
  const order = [...Object.keys(BUDGETS), 'rates', 'auth', 'small', 'growth']
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

function pathOf(name: string): string {
  return FILES.get(name) ?? name
}
