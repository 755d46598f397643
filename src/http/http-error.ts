/**
 * The one error that handlers throw on purpose, and how it looks on the wire: RFC 9457 problem
 * details.
 *
 * Nothing of a cause is ever sent; an unexpected failure shows an id, which the log has too.
 * @module
 */

import type { FlatHeaders, Reply } from './reply.ts'

/** Status and title of each code on the wire. Codes are added, and none is ever changed. */
const HTTP_ERRORS = {
  BAD_REQUEST: [400, 'The request is malformed'],
  BAD_BODY: [400, 'Cannot decode the request body'],
  BAD_NAME: [400, 'The name cannot be used'],
  BAD_PATH: [400, 'The path is malformed'],
  STAMP_AHEAD: [400, 'The stamp is too far ahead of the clock'],
  INCOMPLETE_BODY: [400, 'The request body ended early'],
  PARTIAL_BODY: [400, 'A part of a resource cannot be put'],
  DIGEST_MISMATCH: [400, 'The bytes are not those of their digest'],
  MULTIPART_BOUNDARY: [400, 'The boundary of the form cannot be used'],
  MULTIPART_MALFORMED: [400, 'The form is malformed'],
  MULTIPART_NESTED: [400, 'Forms inside of forms are not accepted'],
  MULTIPART_TRUNCATED: [400, 'The form ended before its last delimiter'],
  UPLOAD_LENGTH_INCONSISTENT: [400, 'The length of the upload is another one'],
  UNAUTHORIZED: [401, 'Credentials are missing or not accepted'],
  FORBIDDEN_ORIGIN: [403, 'Pages of other sites may not send this request'],
  NOT_FOUND: [404, 'No such resource'],
  NOTHING_STAGED: [404, 'Nothing is staged under this name'],
  METHOD_NOT_ALLOWED: [405, 'The resource does not support this method'],
  HEADER_TIMEOUT: [408, 'The request header took too long'],
  BODY_TIMEOUT: [408, 'The request body took too long'],
  CONFLICT: [409, 'The resource is in use'],
  UPLOAD_OFFSET_MISMATCH: [409, 'The offset of the upload is another one'],
  PRECONDITION_FAILED: [412, 'A precondition of the request does not hold'],
  BODY_TOO_LARGE: [413, 'The request body exceeds the limit'],
  FIELD_TOO_LARGE: [413, 'A field of the form exceeds the limit'],
  FIELDS_TOO_LARGE: [413, 'The fields of the form together exceed the limit'],
  FILE_TOO_LARGE: [413, 'A file of the form exceeds the limit'],
  PART_HEADER_TOO_LARGE: [413, 'The header of a part exceeds the limit'],
  PADDING_TOO_LARGE: [413, 'What surrounds the form exceeds the limit'],
  TOO_MANY_PARTS: [413, 'The form has too many parts'],
  TARGET_TOO_LONG: [414, 'The request target exceeds the limit'],
  UNSUPPORTED_ENCODING: [415, 'Encoded request bodies are not accepted'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'The media type is not accepted here'],
  RANGE_NOT_SATISFIABLE: [416, 'The range lies outside the resource'],
  EXPECTATION_FAILED: [417, 'The expectation cannot be met'],
  /** Spelled as clients of the reference protocol compare it. */
  history_data_invalid: [422, 'The data is not what its hash promises'],
  UPGRADE_REQUIRED: [426, 'The resource speaks another protocol'],
  TOO_MANY_REQUESTS: [429, 'Too many requests'],
  HEADERS_TOO_LARGE: [431, 'The request header exceeds the limit'],
  INTERNAL: [500, 'Unexpected failure'],
  TRANSFER_CODING_UNSUPPORTED: [501, 'The transfer coding is not supported'],
  OVERLOADED: [503, 'The server is busy'],
  DRAINING: [503, 'The server is shutting down'],
  VERSION_UNSUPPORTED: [505, 'The HTTP version is not supported'],
  NO_SPACE: [507, 'Not enough free space'],
} as const

/** The statuses of what passes by itself: such a reply says when to come again. */
const PASSING: readonly number[] = [429, 503]

/** The problems that have a name in the registry of RFC 9457. */
const TYPES: Partial<Record<HttpErrorCode, string>> = {
  UPLOAD_LENGTH_INCONSISTENT: 'inconsistent-upload-length',
  UPLOAD_OFFSET_MISMATCH: 'mismatching-upload-offset',
}

/** Stable name of a failure, sent to the client as `code`. */
export type HttpErrorCode = keyof typeof HTTP_ERRORS

/** Extras for {@link HttpError}; all of them optional. */
export interface HttpErrorOptions {
  /** Says what went wrong this time. Sent to the client, so it must not hold secrets. */
  readonly detail?: string | undefined
  /** Headers that the reply must carry, for example `WWW-Authenticate`. */
  readonly headers?: FlatHeaders
  /** More members of the problem. Sent to the client. */
  readonly members?: Readonly<Record<string, number>> | undefined
  /** The error underneath. Never sent. */
  readonly cause?: unknown
}

/**
 * A failure with a place in the protocol.
 *
 * @example
 * ```ts
 * throw new HttpError('BODY_TOO_LARGE', `at most ${limit} bytes`)
 * ```
 */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly code: HttpErrorCode
  readonly status: number
  readonly title: string
  readonly detail: string | undefined
  readonly headers: FlatHeaders
  readonly members: Readonly<Record<string, number>> | undefined
  readonly #options: HttpErrorOptions

  /** @param extras A text is the detail. */
  constructor(code: HttpErrorCode, extras: HttpErrorOptions | string = {}) {
    const [status, title] = HTTP_ERRORS[code]
    const options = typeof extras === 'string' ? { detail: extras } : extras
    const { detail, headers = [], members, cause }: HttpErrorOptions = options
    super(detail === undefined ? title : `${title}: ${detail}`, { cause })
    this.code = code
    this.status = status
    this.title = title
    this.detail = detail
    this.headers = [...(PASSING.includes(status) ? ['Retry-After', '1'] : []), ...headers]
    this.members = members
    this.#options = options
  }

  /** This failure, with more headers. */
  withHeaders(more: FlatHeaders): HttpError {
    const { headers = [] } = this.#options
    return new HttpError(this.code, { ...this.#options, headers: [...headers, ...more] })
  }
}

/** JSON, or a form, that cannot be understood. @param detail What of it. */
export function badBody(detail: string): HttpError {
  return new HttpError('BAD_BODY', detail)
}

/** Returns a thing that was asked for. @throws {HttpError} `NOT_FOUND` when there is none. */
export function found<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new HttpError('NOT_FOUND')
  return value
}

/**
 * The reply that tells a client of a failure.
 *
 * @param id Names this one failure, here and in the log.
 */
export function problemReply(error: HttpError, id?: string): Reply {
  const { title, status, code, detail, members } = error
  const name = TYPES[code]
  const type = name && `https://iana.org/assignments/http-problem-types#${name}`
  return {
    status,
    headers: ['Content-Type', 'application/problem+json', ...error.headers],
    // Absent members are left out by `stringify`.
    body: JSON.stringify({ type, title, status, code, detail, id, ...members }),
  }
}
