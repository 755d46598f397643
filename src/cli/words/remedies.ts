/** Remedies for failures from below whose messages name none. @module */

import { ClientError, type ClientErrorCode } from '../../client/client-error.ts'
import { DomainError, type DomainErrorCode } from '../../core/domain-error.ts'
import { describeFailure } from '../../lib/describe-failure.ts'
import { isProgramGone, PROGRAM_GONE } from '../../lib/program-files.ts'
import { codeOf } from '../../lib/system-error.ts'

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

/** Remedies for refusals, by the code of the server. */
const PROBLEMS: Readonly<Partial<Record<string, string>>> = {
  NOTHING_STAGED: 'it had to make room for others, or waited for too long: push again',
  BODY_TOO_LARGE: 'it takes no item of that size: see its --max-file-bytes',
  NO_SPACE: 'make room on its disk, or see its --staging-quota-bytes',
  BAD_NAME: 'give the file another name',
  TOO_MANY_REQUESTS: 'try again in a moment',
  OVERLOADED: 'try again in a moment',
  DRAINING: 'it is stopping: try again when it has been started',
}

/** Remedies where nobody answers, by the code of the system. */
const UNREACHABLE: Readonly<Partial<Record<string, string>>> = {
  ECONNREFUSED: 'nothing listens there: start it, or check the port in its URL',
  ENOTFOUND: 'there is no host of that name: check its URL',
  EAI_AGAIN: 'the name cannot be looked up now: check the network of this machine',
  EHOSTUNREACH: 'no such machine is on the network: check that it is on, and its address',
  ENETUNREACH: 'no network leads there: check that of this machine',
}

/** The message, and what to do. */
export function explainFailure(error: unknown): string {
  if (codeOf(error) === 'ERR_MODULE_NOT_FOUND' && isProgramGone()) return PROGRAM_GONE
  if (!isExpected(error)) {
    const { reason, at } = describeFailure(error)
    return `Unexpected failure: ${reason}${at === undefined ? '' : ` at ${at}`}`
  }
  const remedy = remedyFor(error)
  return remedy === undefined ? error.message : `${error.message}; ${remedy}`
}

function remedyFor(error: Error): string | undefined {
  if (error instanceof DomainError) return REMEDIES[error.code]
  if (!(error instanceof ClientError)) return undefined
  const { code, problem = '', reason = '' } = error
  return PROBLEMS[problem] ?? UNREACHABLE[reason] ?? REMEDIES[code]
}

const BUGS = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]

/** The messages of bugs, and those of Node, quote values, which may be secrets. */
function isExpected(error: unknown): error is Error {
  if (!(error instanceof Error) || BUGS.some((bug) => error instanceof bug)) return false
  return codeOf(error)?.startsWith('ERR_') !== true
}
