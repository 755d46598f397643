import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatReport } from '../../bench/support/report.ts'
import { explain, judge, leaveOut, skip } from '../../bench/support/row.ts'
import { percentileCurve, quantile } from '../../bench/support/samples.ts'
import { parseTables } from '../docs/support/markdown-tables.ts'

const MACHINE = {
  node: 'v1.2.3',
  system: 'Linux 1 x64',
  processor: 'A | B',
  cores: 2,
  memoryGiB: 4,
  load: 0.1,
}

describe('formatReport()', () => {
  const rows = [
    judge('B1', { measured: [90, 110], baseline: [100, 100], note: 'with a|b' }),
    explain('growth', { what: 'a poll', unit: 'µs', measured: [12.34] }),
    skip('B7', 'needs nginx'),
    leaveOut('small', 'all of it', 'needs control groups'),
  ]
  const result = { at: '2026-01-31T12:00:00.000Z', machine: MACHINE, rows, curves: [] }

  it('has a line for each row, with what it means', () => {
    const [table] = parseTables(formatReport({ ...result, isQuick: false }, []))
    const cells = table?.rows.map((row) => [row[0], row[2], row[5], row[8]])
    assert.deepEqual(cells, [
      ['B1', '100 req/s ±10%', '1.00 ±10%', 'aim met: with a|b'],
      ['growth', '12.3 µs', '', ''],
      ['B7', '', '', 'skipped: needs nginx'],
      ['small', '', '', 'skipped: needs control groups'],
    ])
  })

  it('names the machine, shows the plots, and says when figures are noise', () => {
    const quick = formatReport({ ...result, isQuick: true }, [['Latency', 'quick-latency.svg']])
    for (const text of ['v1.2.3', '2 cores', 'noise', '![Latency](quick-latency.svg)']) {
      assert.ok(quick.includes(text), `"${text}" is missing`)
    }
    assert.doesNotMatch(formatReport({ ...result, isQuick: false }, []), /noise|!\[/)
  })
})

describe('quantile()', () => {
  it('is the value that so many do not exceed', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index)
    assert.deepEqual(
      [0, 0.5, 0.99, 1].map((share) => quantile(values, share)),
      [1, 50, 99, 100],
    )
    assert.equal(quantile([7], 0.01), 7)
    assert.ok(Number.isNaN(quantile([], 0.5)), 'there is a median of nothing')
  })
})

describe('percentileCurve()', () => {
  it('rises, and claims nothing about what happens more rarely than it was measured', () => {
    const curve = percentileCurve(Array.from({ length: 100 }, (_, index) => index + 1))
    assert.deepEqual(
      curve.map(([percentile]) => percentile),
      [0, 25, 50, 75, 90, 95, 99],
    )
    assert.deepEqual(
      curve.map(([, value]) => value),
      [1, 25, 50, 75, 90, 95, 99],
    )
    assert.deepEqual(percentileCurve([]), [])
  })
})
