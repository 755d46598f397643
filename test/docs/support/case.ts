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
  profileId: 'Image-00',
  type: 'Image',
  hash: '00',
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

export function success(operation: string, status: number, when: string, more: CaseOf = {}): Case {
  return { operation, status, when, ...more }
}

export function failure(
  operation: string,
  code: HttpErrorCode,
  when: string,
  more: CaseOf = {},
): Case {
  return { operation, status: statusOf(code), code, when, ...more }
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
