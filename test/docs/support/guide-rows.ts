/** The tables of a guide that tell what to enter. @module */

import assert from 'node:assert/strict'
import { parseTables } from './markdown-tables.ts'

/** The rows of the first table of a section. */
export function findRows(page: string, section: string): readonly (readonly string[])[] {
  const table = parseTables(page).find((each) => each.section === section)
  return (table ?? assert.fail(`there is a table in "${section}"`)).rows
}
