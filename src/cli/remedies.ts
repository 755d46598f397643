/** Remedies for failures from below whose messages name none. @module */

import { ClientError, type ClientErrorCode } from '../client/client-error.ts'
import { DomainError, type DomainErrorCode } from '../core/domain-error.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { codeOf } from '../lib/system-error.ts'

const REMEDIES: Readonly<Partial<Record<ClientErrorCode | DomainErrorCode, string>>> = {
  UNREACHABLE: 'check that it runs, and that this machine can reach it',
  TIMEOUT: 'try again later',
  UNAUTHORIZED: 'pair or rotate on its machine, and use the new link',
  NOT_FOUND: 'the item may have changed: try again',
  SERVER_INVALID: 'pair again, and use the new link',
  NO_SUCH_DEVICE: 'see "clipgate devices"',
  USERNAME_TAKEN: 'choose another one',
  PEER_NAME_TAKEN: 'choose another one with --name',
}

/** The message, and what to do. */
export function explainFailure(error: unknown): string {
  if (!isExpected(error)) {
    const { reason, at } = describeFailure(error)
    return `Unexpected failure: ${reason}${at === undefined ? '' : ` at ${at}`}`
  }
  const hasCode = error instanceof ClientError || error instanceof DomainError
  const remedy = hasCode ? REMEDIES[error.code] : undefined
  return remedy === undefined ? error.message : `${error.message}; ${remedy}`
}

const BUGS = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]

/** The messages of bugs, and those of Node, quote values, which may be secrets. */
function isExpected(error: unknown): error is Error {
  if (!(error instanceof Error) || BUGS.some((bug) => error instanceof bug)) return false
  return codeOf(error)?.startsWith('ERR_') !== true
}
