import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { readDescription } from './support/api-description.ts'
import { PROTOCOL_CHECKS } from './support/protocol-checks.ts'
import { parseTables, type Table } from './support/markdown-tables.ts'
import { findTable, nameOf, rowName, type TableChecks } from './support/row-check.ts'
import { SERVICE_BEHAVIOUR_CHECKS } from './support/service-behaviour-checks.ts'
import { SERVICE_ENDPOINT_CHECKS } from './support/service-endpoint-checks.ts'
import { SERVICE_FIELD_CHECKS } from './support/service-field-checks.ts'
import { SERVICE_LIMIT_CHECKS } from './support/service-limit-checks.ts'
import { SERVICE_LINK_CHECKS } from './support/service-link-checks.ts'

const PROTOCOL = new URL('../../docs/protocol.md', import.meta.url)

/** The document that docs/protocol.md was written after; no part of the project. */
const SERVICE = new URL('../../../shared/spec/service.md', import.meta.url)

const SERVICE_CHECKS: readonly TableChecks[] = [
  ...SERVICE_ENDPOINT_CHECKS,
  ...SERVICE_FIELD_CHECKS,
  ...SERVICE_BEHAVIOUR_CHECKS,
  ...SERVICE_LINK_CHECKS,
  ...SERVICE_LIMIT_CHECKS,
]

const withoutService = existsSync(SERVICE) ? false : 'skipped: the service document is not here'

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

describe('what a table of the service document says', () => {
  for (const checks of SERVICE_CHECKS) {
    describe(nameOf(checks), () => {
      for (const [name, check] of Object.entries(checks.rows)) it(name, (t) => check(t, []))
    })
  }
})

describe('the service document', { skip: withoutService }, () => {
  const tables = withoutService === false ? readTables(SERVICE) : []

  for (const checks of SERVICE_CHECKS) {
    it(`has the rows that are checked, and no others: ${nameOf(checks)}`, () => {
      const table = findTable(tables, checks)
      const names = table.rows.map((cells) => rowName(table, cells, checks))
      assert.deepEqual(names, Object.keys(checks.rows))
    })
  }

  it('has no table that nobody checks', () => {
    const checked = new Set(SERVICE_CHECKS.map((checks) => findTable(tables, checks)))
    const unchecked = tables.filter((table) => !checked.has(table))
    assert.deepEqual(
      unchecked.map(({ section, header }) => `${section}: ${header.join(', ')}`),
      [],
    )
  })
})

function readTables(url: URL): readonly Table[] {
  return parseTables(readFileSync(url, 'utf8'))
}
