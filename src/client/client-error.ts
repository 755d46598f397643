/**
 * The failures between a client and its server.
 *
 * No message quotes a password, a text or what the server wrote, and no error has a `cause`: those
 * of `fetch` may hold the bytes that it could not parse. What they may tell is in `reason`.
 * @module
 */

/** Stable name of a failure. */
export type ClientErrorCode =
  | 'SERVER_INVALID'
  | 'ARGUMENT_INVALID'
  | 'SOURCE_UNREADABLE'
  | 'UNREACHABLE'
  | 'TIMEOUT'
  | 'UNAUTHORIZED'
  | 'NOT_FOUND'
  | 'REFUSED'
  | 'BAD_ANSWER'

const MESSAGES: Readonly<Record<ClientErrorCode, string>> = {
  SERVER_INVALID: 'Cannot connect with this URL, user name and password',
  ARGUMENT_INVALID: 'Cannot send the request',
  SOURCE_UNREADABLE: 'Cannot read what was to be sent',
  UNREACHABLE: 'Cannot reach the server, or the connection broke',
  TIMEOUT: 'The server takes too long',
  UNAUTHORIZED: 'The server does not accept the user name and password',
  NOT_FOUND: 'The server does not have what was asked for',
  REFUSED: 'The server refused the request',
  BAD_ANSWER: 'The answer of the server cannot be understood',
}

/** Everything that is known besides the code. */
export interface ClientErrorDetails {
  /** The HTTP status, when the server answered. */
  readonly status?: number | undefined
  /** The server's own code, such as `NOTHING_STAGED`, when it told one. */
  readonly problem?: string | undefined
  /** The exact failure: a system error code, or a few words of ours. */
  readonly reason?: string | undefined
  /** How long the server asks to leave it alone, in milliseconds. */
  readonly retryAfterMs?: number | undefined
}

/** The one error of the client; a request that the caller aborted rejects with their reason. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  readonly code: ClientErrorCode
  readonly status: number | undefined
  readonly problem: string | undefined
  readonly reason: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(code: ClientErrorCode, known: ClientErrorDetails = {}) {
    const { status, problem, reason, retryAfterMs } = known
    const details = [status, problem, reason].filter((detail) => detail !== undefined)
    super(MESSAGES[code] + (details.length === 0 ? '' : ` (${details.join(', ')})`))
    this.code = code
    this.status = status
    this.problem = problem
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

/** The failure that a status of an answer means, unless that is one of success. */
export function refusalOf(status: number, known: ClientErrorDetails = {}): ClientError {
  const code = status === 401 ? 'UNAUTHORIZED' : status === 404 ? 'NOT_FOUND' : 'REFUSED'
  return new ClientError(code, { ...known, status })
}

/** Below 500: those that say that it was not the time, and that something else is there by now. */
const PASSING_STATUSES = [408, 409, 425, 429]

const NO_ROOM = 507

/** The reason of a download that has more or less bytes than its answer said. */
export const WRONG_SIZE = 'not the announced size'

/**
 * Whether the same request may succeed later: nobody answered, the bytes were cut off on the way,
 * or a status says so. From 500 on it may be anybody's on the way, and they have numbers of their
 * own.
 */
export function mayPass({ code, status = 0, problem, reason }: ClientError): boolean {
  if (code === 'UNREACHABLE' || code === 'TIMEOUT') return true
  if (code === 'BAD_ANSWER') return reason === WRONG_SIZE
  if (code !== 'REFUSED') return false
  if (problem === 'INCOMPLETE_BODY') return true
  return status >= 500 ? status !== NO_ROOM : PASSING_STATUSES.includes(status)
}

const TIMEOUTS = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']

/**
 * Names what `fetch` and bodies throw. Node's fetch says why in its `cause`; others do not tell.
 *
 * @returns The error to throw instead.
 */
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
