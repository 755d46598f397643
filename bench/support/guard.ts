/**
 * Whether guarded rows are as good as they must be.
 *
 * Other programs only make figures worse. So the best rounds of each side may count instead of the
 * median, whichever is better, and a row that is too bad is measured again; only what is too bad
 * each time has become worse.
 * @module
 */

import { BUDGETS, type BudgetId } from './budgets.ts'
import { GUARDS, type Guarded } from './guards.ts'
import { judgedValue, reaches, type Row } from './row.ts'

/** A guarded row that is too bad, or was not measured although its tools are here. */
export interface Breach {
  readonly budget: BudgetId
  /** The best of each try; `NaN` where nothing was measured. */
  readonly values: readonly number[]
}

export interface Guarding {
  /** Bench files, by their names without `.bench.ts`. */
  readonly files: readonly string[]
  readonly tries: number
  /** Runs these files. */
  readonly measure: (files: readonly string[]) => Promise<readonly Row[]>
}

/** Measures, and measures again what was too bad. @returns What was too bad in each try. */
export async function guard({ files, tries, measure }: Guarding): Promise<readonly Breach[]> {
  let breaches = guardedBy(files).map((budget): Breach => ({ budget, values: [] }))
  for (let attempt = 0; attempt < tries && breaches.length > 0; attempt++) {
    const needed = new Set(breaches.map(({ budget }) => guardOf(budget)?.file))
    const rows = await measure(files.filter((file) => needed.has(file)))
    breaches = breaches.flatMap(({ budget, values }) => {
      const found = findBreach(budget, rows)
      return found === undefined ? [] : [{ budget, values: [...values, found] }]
    })
  }
  return breaches
}

/** Names of files with guarded rows. */
export function isGuardedFile(file: string): boolean {
  return guardedBy([file]).length > 0
}

/** "B1 GET /Sync.json, authenticated: 0.51, 0.49, 0.55; at least 0.7 (of bare node:http)". */
export function formatBreach({ budget, values }: Breach): string {
  const { what, better, judged, baseline, unit } = BUDGETS[budget]
  const bound = better === 'higher' ? 'at least' : 'at most'
  const measured = values.map((value) => (Number.isNaN(value) ? 'nothing' : value.toFixed(2)))
  const of = judged === 'ratio' ? `of ${baseline}` : unit
  const limit = `${bound} ${guardOf(budget)?.limit} ${of}`.trimEnd()
  return `${budget} ${what}: ${measured.join(', ')}; must be ${limit}`
}

/** What guards a budget; `undefined` when nothing does. */
export function guardOf(budget: BudgetId): Guarded | undefined {
  const found = GUARDS[budget]
  return 'file' in found ? found : undefined
}

function guardedBy(files: readonly string[]): readonly BudgetId[] {
  // Its keys are the budgets.
  return (Object.keys(GUARDS) as BudgetId[]).filter((budget) => {
    const file = guardOf(budget)?.file
    return file !== undefined && files.includes(file)
  })
}

/** @returns `undefined` when all is well. */
function findBreach(budget: BudgetId, rows: readonly Row[]): number | undefined {
  // Rows that only explain have no floor.
  const row = rows.find((each) => each.budget === budget && each.floor !== undefined)
  if (row?.verdict === 'skipped') return undefined
  const limit = guardOf(budget)?.limit ?? Number.NaN
  const value = row === undefined ? Number.NaN : bestValue(budget, row)
  return reaches(budget, value, limit) ? undefined : value
}

/** The value of the best rounds, or of all, whichever is better; that of the figure that the floor is about. */
function bestValue(budget: BudgetId, row: Row): number {
  const { better, judged } = BUDGETS[budget]
  const best = better === 'higher' ? Math.max : Math.min
  const own = best(...(row.measured?.values ?? []))
  const ofBestRounds = judged === 'amount' ? own : own / best(...(row.baseline?.values ?? []))
  return best(ofBestRounds, judgedValue(budget, row))
}
