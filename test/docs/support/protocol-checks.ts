/**
 * Tables of docs/protocol.md, row by row. Those about words, names, hashes, connect links and files
 * have tests of their own, next to those of the code.
 * @module
 */

import assert from 'node:assert/strict'
import type { HttpErrorCode } from '../../../src/http/http-error.ts'
import { statusOf } from './answer-check.ts'
import { listOperations, readDescription } from './api-description.ts'
import { FRAMING_ROWS } from './framing-rows.ts'
import { HISTORY_ROWS } from './history-rows.ts'
import { CLOSE_ROWS, CONNECT_ROWS, NEGOTIATE_ROWS } from './hub-rows.ts'
import {
  DIALECT_ROWS,
  FILTER_ROWS,
  hasRecordFields,
  PUSHED_FIELD_ROWS,
} from './protocol-history-rows.ts'
import { FORM_LIMIT_ROWS, PROTOCOL_LIMIT_ROWS } from './protocol-limit-rows.ts'
import { DOCUMENT_FIELD_ROWS, EVENT_ROWS, PROBE_ROWS, PUSH_ROWS } from './protocol-rows.ts'
import type { RowCheck, TableChecks } from './row-check.ts'

const operations = listOperations(readDescription())

export const PROTOCOL_CHECKS: readonly TableChecks[] = [
  { section: 'Endpoints', columns: ['path'], rows: {}, eachRow: hasMethods },
  { section: 'Probes', columns: ['request', 'answer'], rows: PROBE_ROWS },
  { section: 'Reading', columns: ['field', 'type'], rows: DOCUMENT_FIELD_ROWS },
  { section: 'Writing', columns: ['pushed'], rows: PUSH_ROWS },
  { section: 'Framing', columns: ['case', 'answer'], rows: FRAMING_ROWS },
  { section: 'Events', columns: ['event'], rows: EVENT_ROWS },
  { section: 'Message hub', columns: ['negotiateVersion in the query'], rows: NEGOTIATE_ROWS },
  { section: 'Message hub', columns: ['request'], rows: CONNECT_ROWS },
  { section: 'Message hub', columns: ['code'], rows: CLOSE_ROWS },
  { section: 'Records', columns: ['field', 'type'], rows: {}, eachRow: hasRecordFields },
  { section: 'Records', columns: ['dialect'], rows: DIALECT_ROWS },
  { section: 'History', columns: ['request'], rows: HISTORY_ROWS },
  { section: 'Queries', columns: ['field'], rows: FILTER_ROWS },
  { section: 'Pushing', columns: ['field'], rows: PUSHED_FIELD_ROWS },
  { section: 'Forms', columns: ['limit'], rows: FORM_LIMIT_ROWS },
  { section: 'Limits', columns: ['limit'], rows: PROTOCOL_LIMIT_ROWS },
  { section: 'Errors', columns: ['status', 'code'], rows: {}, eachRow: hasStatus },
]

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
