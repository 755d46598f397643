import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, it } from 'node:test'
import { BUDGETS, type BudgetId } from '../../bench/support/budgets.ts'
import { formatBreach, guard, guardOf, isGuardedFile } from '../../bench/support/guard.ts'
import { judge, skip, type Row } from '../../bench/support/row.ts'

/** All budgets; these are the keys. */
const BUDGET_IDS = Object.keys(BUDGETS) as BudgetId[]

/** Rows of a file as good as they must be, but for some ratios. */
function rowsOf(file: string, ratios: Partial<Record<BudgetId, number>> = {}): readonly Row[] {
  return BUDGET_IDS.filter((budget) => guardOf(budget)?.file === file).map((budget) => {
    const value = ratios[budget] ?? guardOf(budget)?.limit ?? Number.NaN
    return judge(budget, { measured: [value], baseline: [1] })
  })
}

/** Answers each run of these files with the next result, and counts the runs. */
function runs(...rounds: readonly (readonly Row[])[]) {
  const asked: (readonly string[])[] = []
  const measure = async (files: readonly string[]): Promise<readonly Row[]> => {
    asked.push(files)
    return rounds[asked.length - 1] ?? []
  }
  return { asked, measure }
}

describe('guard()', () => {
  it('is content with rows at their limits, at once', async () => {
    const { asked, measure } = runs([...rowsOf('requests'), ...rowsOf('download')])
    assert.deepEqual(await guard({ files: ['requests', 'download'], tries: 3, measure }), [])
    assert.deepEqual(asked, [['requests', 'download']])
  })

  it('forgives what was too bad twice, and measures only that again', async () => {
    const bad = rowsOf('requests', { B1: 0.2 })
    const { asked, measure } = runs([...bad, ...rowsOf('download')], bad, rowsOf('requests'))
    assert.deepEqual(await guard({ files: ['requests', 'download'], tries: 3, measure }), [])
    assert.deepEqual(asked, [['requests', 'download'], ['requests'], ['requests']])
  })

  it('forgives two rows that were too bad in different tries', async () => {
    const { measure } = runs(rowsOf('requests', { B1: 0.2 }), rowsOf('requests', { B2: 0.2 }))
    assert.deepEqual(await guard({ files: ['requests'], tries: 3, measure }), [])
  })

  it('names what was too bad each time, with what was measured', async () => {
    const { measure } = runs(
      rowsOf('requests', { B1: 0.2 }),
      rowsOf('requests', { B1: 0.3 }),
      rowsOf('requests', { B1: 0.25, B2: 0.1 }),
    )
    const breaches = await guard({ files: ['requests'], tries: 3, measure })
    assert.deepEqual(breaches, [{ budget: 'B1', values: [0.2, 0.3, 0.25] }])
    const [text = ''] = breaches.map(formatBreach)
    assert.match(text, /^B1 GET .*: 0\.20, 0\.30, 0\.25; must be at least 0\.\d+ of bare/)
  })

  it('knows which amounts must be small', async () => {
    const large = rowsOf('upload-memory', { B8: 900 })
    const { measure } = runs(large, large)
    const breaches = await guard({ files: ['upload-memory'], tries: 2, measure })
    assert.deepEqual(breaches, [{ budget: 'B8', values: [900, 900] }])
    assert.match(formatBreach({ budget: 'B8', values: [900] }), /must be at most \d+ MiB$/)
  })

  it('goes by the best rounds, since other programs only make them worse', async () => {
    const limit = guardOf('B10')?.limit ?? NaN
    const disturbed = { measured: [limit * 10, limit * 90, limit * 70], baseline: [40, 10, 20] }
    const { measure } = runs([judge('B10', disturbed)])
    assert.deepEqual(await guard({ files: ['start'], tries: 1, measure }), [])
    const slow = { measured: [limit * 11, limit * 12], baseline: [10, 10] }
    const [breach] = await guard({
      files: ['start'],
      tries: 1,
      measure: runs([judge('B10', slow)]).measure,
    })
    assert.equal(breach?.budget, 'B10')
  })

  it('counts a row that is missing as too bad, and one whose tool is missing as none', async () => {
    const { measure } = runs([], [])
    const [first] = await guard({ files: ['download'], tries: 2, measure })
    assert.equal(first?.budget, 'B7')
    assert.match(formatBreach({ budget: 'B7', values: [NaN, NaN] }), /: nothing, nothing; must be/)
    const skipped = runs([skip('B7', 'needs nginx')])
    const breaches = await guard({ files: ['download'], tries: 2, measure: skipped.measure })
    assert.deepEqual(breaches, [])
  })
})

const names = readdirSync(new URL('../../bench/', import.meta.url))

it('the limits of the guard are of files that there are', () => {
  const files = BUDGET_IDS.flatMap((budget) => guardOf(budget)?.file ?? [])
  assert.deepEqual(
    files.filter((file) => !names.includes(`${file}.bench.ts`)),
    [],
  )
  assert.ok(files.every(isGuardedFile), 'a file of a guarded row is not run')
})

it('the limits of the guard are the floors, unless they say why not', () => {
  const silent = BUDGET_IDS.filter((budget) => {
    const { limit, because } = guardOf(budget) ?? {}
    return limit !== undefined && (because === undefined) !== (limit === BUDGETS[budget].floor)
  })
  assert.deepEqual(silent, [])
})
