/**
 * Tables of docs/protocol.md, row by row. Those about words, names, hashes, connect links and files
 * have tests of their own, next to those of the code.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { HttpError, type HttpErrorCode } from '../../../src/http/http-error.ts'
import { allCases, isProvocable } from './all-cases.ts'
import { codeIn, statusOf } from './answer-check.ts'
import { listOperations, readDescription } from './api-description.ts'
import { requestOf } from './case.ts'
import { assertProtected } from './conversation.ts'
import { FRAMING_ROWS } from './framing-rows.ts'
import { HISTORY_ROWS } from './history-rows.ts'
import {
  DIALECT_ROWS,
  FILTER_ROWS,
  hasRecordFields,
  PUSHED_FIELD_ROWS,
} from './protocol-history-rows.ts'
import { FORM_LIMIT_ROWS, PROTOCOL_LIMIT_ROWS } from './protocol-limit-rows.ts'
import { DOCUMENT_FIELD_ROWS, PROBE_ROWS, PUSH_ROWS } from './protocol-rows.ts'
import type { RowCheck, TableChecks } from './row-check.ts'
import { SERVICE_BEHAVIOUR_CHECKS } from './service-behaviour-checks.ts'
import { openStation } from './station.ts'

const METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'MKCOL']

const operations = listOperations(readDescription())

export const PROTOCOL_CHECKS: readonly TableChecks[] = [
  { section: 'Endpoints', columns: ['path'], rows: {}, eachRow: hasMethods },
  { section: 'Probes', columns: ['request', 'answer'], rows: PROBE_ROWS },
  { section: 'Reading', columns: ['field', 'type'], rows: DOCUMENT_FIELD_ROWS },
  { section: 'Writing', columns: ['pushed'], rows: PUSH_ROWS },
  { section: 'Framing', columns: ['case', 'answer'], rows: FRAMING_ROWS },
  { section: 'Events', columns: ['event'], rows: eventRows() },
  { section: 'Records', columns: ['field', 'type'], rows: {}, eachRow: hasRecordFields },
  { section: 'Records', columns: ['dialect'], rows: DIALECT_ROWS },
  { section: 'History', columns: ['request'], rows: renamed(HISTORY_ROWS, asRequest) },
  { section: 'Queries', columns: ['field'], rows: FILTER_ROWS },
  { section: 'Pushing', columns: ['field'], rows: PUSHED_FIELD_ROWS },
  { section: 'Forms', columns: ['limit'], rows: FORM_LIMIT_ROWS },
  { section: 'Limits', columns: ['limit'], rows: PROTOCOL_LIMIT_ROWS },
  { section: 'Errors', columns: ['status', 'code'], rows: {}, eachRow: isProvoked },
]

/** A row of paths and methods: those methods are there, to whom it says, and no others. */
async function hasMethods(...[t, cells]: Parameters<RowCheck>): Promise<void> {
  const [paths = '', methods = '', credentials] = cells
  const at = await openStation(t)
  const listed = methods.split(', ')
  for (const path of paths.replaceAll('`', '').split(', ')) {
    const target = path.replace(/\{\w+\}/g, 'Text-00')
    for (const method of METHODS) {
      const isThere = listed.includes(method)
      if (isThere && credentials === 'yes') await assertProtected(at, method, target)
      if (method === 'GET' && path.includes('/sse/')) continue
      const answer = await at.ask({ method, target, isAnonymous: credentials !== 'yes' })
      assert.equal(answer.status === 405, !isThere, `${method} ${path} gives ${answer.status}`)
      if (isThere) continue
      assert.deepEqual(answer.headers['allow']?.split(', ').sort(), [...listed].sort(), path)
    }
  }
}

/** A row of errors: each code has this status, also in an answer. */
async function isProvoked(...[t, cells]: Parameters<RowCheck>): Promise<void> {
  const [status, codes = ''] = cells
  for (const name of codes.replaceAll('`', '').split(', ')) {
    // What the page lists may be wrong, and fails here then.
    const code = name as HttpErrorCode
    assert.equal(String(new HttpError(code).status), status, code)
    if (!isProvocable(`${status} ${code}`, 'any')) continue
    if (code === 'METHOD_NOT_ALLOWED') {
      const { ask } = await openStation(t)
      assert.equal(codeIn(await ask({ method: 'DELETE', target: '/' })), code)
      continue
    }
    const one = allCases(operations).find((candidate) => candidate.code === code)
    const operation = operations.find(({ id }) => id === one?.operation)
    assert.ok(one !== undefined && operation !== undefined, `nothing provokes ${code}`)
    const at = await openStation(t, one.options)
    await one.given?.(at)
    const answer = await at.ask(requestOf(one, operation))
    assert.deepEqual([answer.status, codeIn(answer)], [statusOf(code), code])
  }
}

function asRequest(name: string): string {
  return name.replace(' | ', ' ')
}

function renamed(rows: TableChecks['rows'], rename: (name: string) => string): TableChecks['rows'] {
  return Object.fromEntries(Object.entries(rows).map(([name, check]) => [rename(name), check]))
}

function eventRows(): TableChecks['rows'] {
  const { rows = {} } = SERVICE_BEHAVIOUR_CHECKS.find(({ section }) => section === 'Events') ?? {}
  return renamed(rows, (name) => name.replace(/ \|.*/, ''))
}
