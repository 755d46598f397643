/**
 * Every request that the tests of docs/openapi.yaml make.
 * @module
 */

import { anyRequestCases } from './any-request-cases.ts'
import type { Operation } from './api-description.ts'
import type { Case } from './case.ts'
import { DOCUMENT_CASES } from './document-cases.ts'
import { EVENT_CASES } from './event-cases.ts'
import { FILE_CASES } from './file-cases.ts'
import { HISTORY_CASES } from './history-cases.ts'
import { PHONE_PAGE_CASES, withTicket } from './phone-page-cases.ts'
import { PROBE_CASES } from './probe-cases.ts'

export function allCases(operations: readonly Operation[]): readonly Case[] {
  return [
    ...operations.flatMap(anyRequestCases).map(withTicket),
    ...PROBE_CASES,
    ...DOCUMENT_CASES,
    ...FILE_CASES,
    ...HISTORY_CASES,
    ...EVENT_CASES,
    ...PHONE_PAGE_CASES,
  ]
}

interface NotProvocable {
  /** As `documentedAnswers` names it. */
  readonly answer: string
  /** The operations that answer so; every operation when absent. */
  readonly operations?: readonly string[]
  readonly reason: string
}

/** Documented, and out of reach of these requests. */
const NOT_PROVOCABLE: readonly NotProvocable[] = [
  {
    answer: '408 BODY_TIMEOUT',
    reason: 'takes half a minute; test/http/read-body.test.ts has it with shorter times',
  },
  {
    answer: '500 INTERNAL',
    operations: [
      ...['getHealth', 'headHealth', 'getTrustPage', 'headTrustPage'],
      ...['getTrustFile', 'headTrustFile'],
    ],
    reason: 'they touch nothing that could fail',
  },
  {
    answer: '500 INTERNAL',
    operations: ['getPhonePage', 'headPhonePage', 'getByTicket', 'headByTicket'],
    reason: 'takes a broken disk; test/gateway/phone-page.test.ts has one',
  },
]

export function isProvocable(answer: string, operation: string): boolean {
  return !NOT_PROVOCABLE.some(
    (entry) => entry.answer === answer && (entry.operations?.includes(operation) ?? true),
  )
}
