/**
 * Ties the rows of a page's tables to what shows that they are true.
 * @module
 */

import type { TestContext } from 'node:test'
import type { Table } from './markdown-tables.ts'

/** Shows that a row is true. */
export type RowCheck = (t: TestContext, cells: readonly string[]) => Promise<void> | void

/** The checks of one table. */
export interface TableChecks {
  /** The heading above it. */
  readonly section: string
  /** Its columns that together name a row, the first one first; the others may be reworded. */
  readonly columns: readonly string[]
  readonly rows: Readonly<Record<string, RowCheck>>
  /** For rows that tell themselves what is to be shown; instead of `rows`. */
  readonly eachRow?: RowCheck
}

/** What a table is called in `describe`. */
export function nameOf({ section, columns }: TableChecks): string {
  return `${section}: ${columns.join(', ')}`
}

/** The table that the checks are for. @throws {Error} When there is none, or more than one. */
export function findTable(tables: readonly Table[], checks: TableChecks): Table {
  const { section, columns } = checks
  const found = tables.filter((table) => {
    const header = table.header.map(plain)
    const isOfKind = header[0] === columns[0] && columns.every((name) => header.includes(name))
    return isOfKind && plain(table.section) === section
  })
  const [table] = found
  if (table === undefined || found.length > 1) {
    throw new Error(`There are ${found.length} tables "${nameOf(checks)}"`)
  }
  return table
}

/** The name of a row. */
export function rowName({ header }: Table, cells: readonly string[], checks: TableChecks): string {
  const names = header.map(plain)
  return checks.columns.map((column) => plain(cells[names.indexOf(column)])).join(' | ')
}

/** Without the marks for code, links and emphasis. */
function plain(text: string = ''): string {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '')
}
