/**
 * Names what `fetch` and bodies throw. Node's fetch says why in its `cause`; others do not tell.
 *
 * @module
 */

import { ClientError } from './client-error.ts'

const TIMEOUTS = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']

/** The error to throw instead. */
export function translateFailure(error: unknown): ClientError {
  if (error instanceof ClientError) return error
  const cause = error instanceof Error ? (error.cause ?? error) : undefined
  if (!(cause instanceof Error)) return new ClientError('UNREACHABLE')
  if (cause.name === 'NotReadableError') return new ClientError('SOURCE_UNREADABLE')
  if (cause.message === 'unexpected redirect') {
    return new ClientError('BAD_ANSWER', { reason: 'a redirection' })
  }
  const reason = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
  // Node's HTTP parser, which tells no code from version 24 on.
  if (cause.name === 'HTTPParserError' || reason?.startsWith('HPE_') === true) {
    return new ClientError('BAD_ANSWER', { reason: reason ?? 'no HTTP' })
  }
  if (reason === undefined) return new ClientError('UNREACHABLE')
  return new ClientError(TIMEOUTS.includes(reason) ? 'TIMEOUT' : 'UNREACHABLE', { reason })
}
