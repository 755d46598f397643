import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { readDescription } from './support/api-description.ts'
import { PROTOCOL_CHECKS } from './support/protocol-checks.ts'
import { parseTables, type Table } from './support/markdown-tables.ts'
import { findTable, nameOf, rowName } from './support/row-check.ts'

const PROTOCOL = new URL('../../docs/protocol.md', import.meta.url)

// Protocol: uploaded file
describe('what a table of docs/protocol.md says', () => {
  const tables = readTables(PROTOCOL)

  for (const checks of PROTOCOL_CHECKS) {
    describe(nameOf(checks), () => {
      const table = findTable(tables, checks)
      for (const cells of table.rows) {
        const name = rowName(table, cells, checks)
        const check = checks.rows[name] ?? checks.eachRow
        it(name, async (t) => {
          assert.ok(check !== undefined, 'this row has no check')
          await check(t, cells)
        })
      }

      it('has no check without a row', () => {
        const names = table.rows.map((cells) => rowName(table, cells, checks))
        assert.deepEqual(
          Object.keys(checks.rows).filter((name) => !names.includes(name)),
          [],
        )
      })
    })
  }
})

describe('docs/protocol.md', () => {
  const tables = readTables(PROTOCOL)
  const description = readDescription()

  /** The words in code, in the last one of these columns. */
  function wordsIn(section: string, ...columns: readonly string[]): readonly string[] {
    const { header, rows } = findTable(tables, { section, columns, rows: {} })
    const cells = rows.map((row) => row[header.indexOf(columns.at(-1) ?? '')] ?? '')
    const words = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)])
    return words.map(([, word = '']) => word).sort()
  }

  it('lists the endpoints that docs/openapi.yaml has', () => {
    assert.deepEqual(wordsIn('Endpoints', 'path'), Object.keys(description.paths).sort())
  })

  it('lists the codes that docs/openapi.yaml has', () => {
    const { enum: codes = [] } = description.components.schemas['ProblemCode'] ?? {}
    assert.deepEqual(wordsIn('Errors', 'status', 'code'), [...codes].sort())
  })
})

function readTables(url: URL): readonly Table[] {
  return parseTables(readFileSync(url, 'utf8'))
}
