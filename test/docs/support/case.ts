/**
 * One request for an operation of docs/openapi.yaml, and the answer that it is to get.
 * @module
 */

import type { HttpErrorCode } from '../../../src/http/http-error.ts'
import { statusOf } from './answer-check.ts'
import type { Operation } from './api-description.ts'
import type { ServeGatewayOptions } from '../../support/gateway.ts'
import type { Answer, RawRequest, Station } from './station.ts'

export interface Case {
  readonly operation: string
  /** Completes "answers `status` …". */
  readonly when: string
  readonly status: number
  /** The code of the problem; `undefined` for a success. */
  readonly code?: HttpErrorCode
  readonly options?: ServeGatewayOptions
  /** What comes before the request. */
  readonly given?: (at: Station) => unknown
  /** For the parameters of the path, percent-encoded; {@link SAMPLES} where it says nothing. */
  readonly params?: Readonly<Record<string, string>>
  /** Follows the path. */
  readonly suffix?: string
  /** What is particular about the request; the operation tells the rest. */
  readonly request?: Partial<Omit<RawRequest, 'method' | 'target'>>
  /** Replaces sending the request and reading an answer of known length. */
  readonly exchange?: (at: Station, request: RawRequest) => Promise<Answer>
  /** What comes on a stream, in this order. */
  readonly events?: readonly string[]
}

/** What may be particular about a case. */
export type CaseOf = Partial<Omit<Case, 'operation' | 'when' | 'status' | 'code'>>

/** A field for members of a group; anybody may send it. */
export const GROUP_TIME = 'X-Clipgate-Time: 1767225600000'

/** What says that a body is a part of something. */
export const A_PART = 'Content-Range: bytes 0-4/10'

const SAMPLES: Readonly<Record<string, string>> = {
  dataName: 'a.png',
  token: '0'.repeat(32),
  profileId: 'Image-00',
  type: 'Image',
  hash: '00',
  ticket: 'none',
  id: '1',
  name: 'works',
}

/** The request of a case. */
export function requestOf(
  { params = {}, suffix = '', request = {} }: Case,
  { method, path }: Operation,
): RawRequest {
  const all = { ...SAMPLES, ...params }
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => all[name] ?? '')
  return { ...request, method, target: target + suffix }
}

/** A success by its status or a failure by its code, when it comes, and all that is particular. */
export type CaseRow = readonly [
  outcome: number | HttpErrorCode,
  when: string,
  ...parts: readonly CaseOf[],
]

/** The cases of one operation; of parts that say the same the last one counts, and fields add up. */
export function casesOf(operation: string, rows: readonly CaseRow[]): readonly Case[] {
  return rows.map(([outcome, when, ...parts]) => {
    const fields = parts.flatMap(({ request }) => request?.fields ?? [])
    const request = Object.assign({}, ...parts.map((part) => part.request), { fields })
    const more: CaseOf = Object.assign({}, ...parts, { request })
    if (typeof outcome === 'number') return { operation, status: outcome, when, ...more }
    return { operation, status: statusOf(outcome), code: outcome, when, ...more }
  })
}

/** A request with these lines in its header. */
export function withFields(...fields: readonly string[]): CaseOf {
  return { request: { fields } }
}

/** A request with a body of this type. */
export function withBody(body: string, type: string): CaseOf {
  return { request: { body, fields: [`Content-Type: ${type}`] } }
}

/** A request that says more than it sends, and hangs up. */
export function cutOff(body: string): CaseOf {
  return { request: { body, cut: 'body' } }
}

/** The cases, and the same for HEAD: its operations are called after those of GET. */
export function withHead(cases: readonly Case[]): readonly Case[] {
  // RFC 9110, 14.2: a range is for GET alone.
  const twins = cases.filter(({ status }) => status !== 206 && status !== 416)
  return [
    ...cases,
    ...twins.map((one) => ({ ...one, operation: one.operation.replace(/^get/, 'head') })),
  ]
}

/** The answer to expect, as `documentedAnswers` names it. */
export function answerOf({ status, code }: Case): string {
  return code === undefined ? String(status) : `${status} ${code}`
}

/** Whether it finds a gateway as it was opened, and leaves it so. */
export function isCalm({ status, options, given, exchange, request }: Case): boolean {
  const isPlain = options ?? given ?? exchange ?? request?.cut
  return status >= 400 && isPlain === undefined
}
