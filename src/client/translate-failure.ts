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
  if (reason === undefined) return new ClientError('UNREACHABLE')
  // Node's HTTP parser.
  if (reason.startsWith('HPE_')) return new ClientError('BAD_ANSWER', { reason })
  return new ClientError(TIMEOUTS.includes(reason) ? 'TIMEOUT' : 'UNREACHABLE', { reason })
}
