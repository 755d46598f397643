/**
 * Tables of docs/protocol.md, row by row. Those about words, names, hashes, connect links and files
 * have tests of their own, next to those of the code; and so have the rows of many others.
 * @module
 */

import assert from 'node:assert/strict'
import type { HttpErrorCode } from '../../../src/http/http-error.ts'
import { sha256 } from '../../support/hashes.ts'
import { readObject } from '../../support/phone.ts'
import { statusOf } from './answer-check.ts'
import { listOperations, readDescription } from './api-description.ts'
import { PNG } from './conversation.ts'
import { readRules, readSections } from './protocol-rules.ts'
import { FORM_LIMIT_ROWS, PROTOCOL_LIMIT_ROWS } from './protocol-limit-rows.ts'
import type { RowCheck, TableChecks } from './row-check.ts'
import { openStation } from './station.ts'

const operations = listOperations(readDescription())

const rules = readRules(readSections())

export const PROTOCOL_CHECKS: readonly TableChecks[] = [
  { section: 'Endpoints', columns: ['path'], rows: {}, eachRow: hasMethods },
  provedElsewhere('Probes', 'request', 'answer'),
  { section: 'Reading', columns: ['field', 'type'], rows: {}, eachRow: isInDocument },
  provedElsewhere('Writing', 'pushed'),
  provedElsewhere('Framing', 'case', 'answer'),
  provedElsewhere('Events', 'event'),
  provedElsewhere('Message hub', 'negotiateVersion in the query'),
  provedElsewhere('Message hub', 'request'),
  provedElsewhere('Message hub', 'code'),
  { section: 'Records', columns: ['field', 'type'], rows: {}, eachRow: isInRecord },
  provedElsewhere('Records', 'dialect'),
  provedElsewhere('History', 'request'),
  provedElsewhere('Queries', 'field'),
  provedElsewhere('Pushing', 'field'),
  { section: 'Forms', columns: ['limit'], rows: FORM_LIMIT_ROWS },
  { section: 'Limits', columns: ['limit'], rows: PROTOCOL_LIMIT_ROWS },
  { section: 'Errors', columns: ['status', 'code'], rows: {}, eachRow: hasStatus },
]

/** A table whose rows are proved beside the code: a mark names the test of each. */
function provedElsewhere(section: string, ...columns: readonly string[]): TableChecks {
  const eachRow: RowCheck = (_, cells) => {
    const row = cells.join(' | ')
    const hasTest = rules.some(
      ({ sections, words }) => sections.includes(section) && row.includes(words),
    )
    assert.ok(hasTest, 'a test is marked with it: "// Protocol: ITS FIRST WORDS"')
  }
  return { section, columns, rows: {}, eachRow }
}

/** A row of paths and methods: docs/openapi.yaml, which other tests hold, has those and no others. */
function hasMethods(...[, cells]: Parameters<RowCheck>): void {
  const [paths = '', methods = '', credentials] = cells
  for (const path of paths.replaceAll('`', '').split(', ')) {
    const described = operations.filter((operation) => operation.path === path)
    assert.deepEqual(described.map(({ method }) => method).sort(), methods.split(', ').sort(), path)
    assert.ok(
      described.every(({ isPublic }) => isPublic === (credentials === 'none')),
      path,
    )
  }
}

/** A row of errors: each code has this status. test/docs/openapi-answers.test.ts provokes them. */
function hasStatus(...[, cells]: Parameters<RowCheck>): void {
  const [status, codes = ''] = cells
  for (const code of codes.replaceAll('`', '').split(', ')) {
    // What the page lists may be wrong, and fails here then.
    assert.equal(String(statusOf(code as HttpErrorCode)), status, code)
  }
}

/** A row about a field of the document: it has this type. */
async function isInDocument(...[t, cells]: Parameters<RowCheck>): Promise<void> {
  const { phone } = await openStation(t)
  await phone.pushFile('Image', 'a.png', PNG)
  hasTypes(await phone.document(), cells)
}

/** A row about fields of a record: they have this type, and the value that the row says. */
async function isInRecord(...[t, cells]: Parameters<RowCheck>): Promise<void> {
  const { phone, clock } = await openStation(t)
  await phone.pushFile('Image', 'a.png', PNG)
  const record = await readObject(await phone.fetch(`/api/history/Image-${sha256(PNG)}`))
  const document = await phone.document()
  const [, , meaning = ''] = cells
  for (const name of hasTypes(record, cells)) {
    const value = record[name]
    if (meaning === 'as in the document') assert.equal(value, document[name])
    if (/^(false|0)$/.test(meaning)) assert.equal(String(value), meaning)
    if (meaning.startsWith("the item's activation")) {
      assert.equal(value, new Date(clock.now()).toISOString())
    }
  }
}

/** Shows that fields have the type of their row. @returns Their names. */
function hasTypes(
  values: Readonly<Record<string, unknown>>,
  [names = '', type = '']: readonly string[],
): readonly string[] {
  const all = names.replaceAll('`', '').split(', ')
  for (const name of all) {
    const value = values[name]
    assert.ok(type === 'integer' ? Number.isInteger(value) : typeof value === type, name)
  }
  return all
}
