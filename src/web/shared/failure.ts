/** The kinds of failures, so that each page has words for them. @module */

import type { ClientError } from '../../client/client-error.ts'

/** The name of the words. */
export type Failure =
  | 'away'
  | 'refused'
  | 'gone'
  | 'tooLarge'
  | 'busy'
  | 'unreadable'
  | 'full'
  | 'unexpected'

/** By status; `away` is that of whatever stands between. */
const FAILURES: Readonly<Record<number, Failure>> = {
  401: 'refused',
  404: 'gone',
  408: 'away',
  409: 'away',
  410: 'gone',
  413: 'tooLarge',
  425: 'busy',
  429: 'busy',
  500: 'unexpected',
  503: 'busy',
  507: 'full',
}

/** The kind of a failure. */
export function failureOf({ code, status = 0 }: ClientError): Failure {
  if (code === 'UNREACHABLE' || code === 'TIMEOUT') return 'away'
  if (code === 'SOURCE_UNREADABLE') return 'unreadable'
  if (code === 'UNAUTHORIZED') return 'refused'
  // Programs between have numbers of their own from 500 on.
  return FAILURES[status] ?? (status > 500 ? 'away' : 'unexpected')
}
