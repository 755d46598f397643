import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from '../support/property.ts'
import { parseTables } from './support/markdown-tables.ts'

describe('the tables of a page', () => {
  it('are found under their headings', () => {
    const page =
      '# A\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\ntext\n\n## B ##\n| c |\n|---|\n| 3 |\n| 4 |\n'
    assert.deepEqual(parseTables(page), [
      { section: 'A', header: ['a', 'b'], rows: [['1', '2']] },
      { section: 'B', header: ['c'], rows: [['3'], ['4']] },
    ])
  })

  it('are not those in examples, nor lines that only look like rows', () => {
    const example =
      '```\n| a |\n|---|\n| 1 |\n```\n~~~~\n| a |\n~~~\n|---|\n~~~~\n| no delimiter |\n| below |\n'
    assert.deepEqual(parseTables(example), [])
  })

  it('have empty cells, and pipes where those are escaped, also in code', () => {
    const [table] = parseTables('|a|b|\n|-|-|\n| `x\\|y` | |\n| \\| | z |\n')
    assert.deepEqual(table?.rows, [
      ['`x|y`', ''],
      ['|', 'z'],
    ])
  })

  it('have as many cells in each row as in the header, or fail', () => {
    assert.throws(() => parseTables('# Odd\n|a|b|\n|-|-|\n|1|\n'), /"Odd"/)
  })

  it('read back what a page was made from', () => {
    const cell = fc
      .string({ unit: fc.constantFrom('a', ' ', '|', '`', '#', '-', 'é') })
      .map((text) => text.trim())
    const rows = fc.integer({ min: 1, max: 4 }).chain((width) =>
      fc.array(fc.array(cell, { minLength: width, maxLength: width }), {
        minLength: 1,
        maxLength: 4,
      }),
    )
    const format = (row: readonly string[]): string =>
      `| ${row.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`
    fc.assert(
      fc.property(rows, ([header = [], ...body]) => {
        const lines = [format(header), `|${header.map(() => '---|').join('')}`, ...body.map(format)]
        assert.deepEqual(parseTables(`## T\n\n${lines.join('\n')}\n`), [
          { section: 'T', header, rows: body },
        ])
      }),
    )
  })
})
