import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { updateFigures } from '../../bench/support/readme-figures.ts'
import { parseTables } from '../docs/support/markdown-tables.ts'

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

it('README.md has the figures of bench/results/latest.md', () => {
  const page = read('README.md')
  const rows = parseTables(read('bench/results/latest.md')).flatMap((table) => table.rows)
  assert.equal(page, updateFigures(page, rows))
  // Else there is nothing to compare.
  assert.match(page, /\d<!--B\w+:(?:measured|ratio)-->/)
})

describe('updateFigures()', () => {
  const rows = [
    ['B1', 'a poll', '700 req/s', '10 req/s', 'a server of others', '70', '', '', ''],
    ['B1', 'a poll', '900 req/s ±1%', '1000 req/s ±2%', 'bare', '0.90 ±1%', '0.85', '0.97', ''],
    ['B1', 'its processor time', '17.8 µs', '', '', '', '', '', ''],
    ['B11 probe', 'a probe', '1.8 ms ±49%', '', '', '', '50', '15', ''],
    ['B7', 'a download', '', '', '', '', '0.6', '0.9', 'skipped: needs nginx'],
  ]

  it('replaces what is of another run by what the budget is about, and nothing else', () => {
    const page = (poll: string, bare: string, ratio: string, probe: string) =>
      `Since 2019, ${poll}<!--B1:measured-->, ${ratio}<!--B1:ratio--> of ${bare}<!--B1:baseline-->,
       in ${probe}<!--B11 probe:measured-->, of 112 MiB.`
    const fresh = page('900 req/s', '1000 req/s', '0.90', '1.8 ms')
    assert.equal(updateFigures(page('57844 req/s', '9 req/s', '0.8', '22 µs'), rows), fresh)
    assert.equal(updateFigures(fresh, rows), fresh)
  })

  it('refuses a figure that the run has not', () => {
    for (const mark of ['B7:measured', 'B9:measured', 'B11 probe:ratio']) {
      assert.throws(() => updateFigures(`5 ms<!--${mark}-->`, rows), /The run has no "/)
    }
  })

  it('refuses a figure that says not of which row it is', () => {
    for (const bare of ['730 MB/s', '57,844 req/s', '3 requests a second', '1.8 ms', '17 µs']) {
      assert.throws(() => updateFigures(`It does ${bare}, they say`, rows), /is of no run/)
    }
  })
})
