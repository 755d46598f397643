/**
 * The one error that handlers throw on purpose, and how it looks on the wire: RFC 9457 problem
 * details.
 *
 * Nothing of a cause is ever sent; an unexpected failure shows an id, which the log has too.
 * @module
 */

import type { FlatHeaders, Reply } from './reply.ts'

interface HttpErrorSpec {
  readonly status: number
  readonly title: string
  /** Headers that every such reply carries. */
  readonly headers?: FlatHeaders
}

/** Status and title of each code on the wire. Codes are added, and none is ever changed. */
const HTTP_ERRORS = {
  BAD_REQUEST: { status: 400, title: 'The request is malformed' },
  BAD_BODY: { status: 400, title: 'Cannot decode the request body' },
  BAD_NAME: { status: 400, title: 'The name cannot be used' },
  BAD_PATH: { status: 400, title: 'The path is malformed' },
  STAMP_AHEAD: { status: 400, title: 'The stamp is too far ahead of the clock' },
  INCOMPLETE_BODY: { status: 400, title: 'The request body ended early' },
  PARTIAL_BODY: { status: 400, title: 'A part of a resource cannot be put' },
  DIGEST_MISMATCH: { status: 400, title: 'The bytes are not those of their digest' },
  MULTIPART_BOUNDARY: { status: 400, title: 'The boundary of the form cannot be used' },
  MULTIPART_MALFORMED: { status: 400, title: 'The form is malformed' },
  MULTIPART_NESTED: { status: 400, title: 'Forms inside of forms are not accepted' },
  MULTIPART_TRUNCATED: { status: 400, title: 'The form ended before its last delimiter' },
  UPLOAD_LENGTH_INCONSISTENT: { status: 400, title: 'The length of the upload is another one' },
  UNAUTHORIZED: { status: 401, title: 'Credentials are missing or not accepted' },
  FORBIDDEN_ORIGIN: { status: 403, title: 'Pages of other sites may not send this request' },
  NOT_FOUND: { status: 404, title: 'No such resource' },
  NOTHING_STAGED: { status: 404, title: 'Nothing is staged under this name' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The resource does not support this method' },
  HEADER_TIMEOUT: { status: 408, title: 'The request header took too long' },
  BODY_TIMEOUT: { status: 408, title: 'The request body took too long' },
  CONFLICT: { status: 409, title: 'The resource is in use' },
  UPLOAD_OFFSET_MISMATCH: { status: 409, title: 'The offset of the upload is another one' },
  PRECONDITION_FAILED: { status: 412, title: 'A precondition of the request does not hold' },
  BODY_TOO_LARGE: { status: 413, title: 'The request body exceeds the limit' },
  FIELD_TOO_LARGE: { status: 413, title: 'A field of the form exceeds the limit' },
  FIELDS_TOO_LARGE: { status: 413, title: 'The fields of the form together exceed the limit' },
  FILE_TOO_LARGE: { status: 413, title: 'A file of the form exceeds the limit' },
  PART_HEADER_TOO_LARGE: { status: 413, title: 'The header of a part exceeds the limit' },
  PADDING_TOO_LARGE: { status: 413, title: 'What surrounds the form exceeds the limit' },
  TOO_MANY_PARTS: { status: 413, title: 'The form has too many parts' },
  TARGET_TOO_LONG: { status: 414, title: 'The request target exceeds the limit' },
  UNSUPPORTED_ENCODING: { status: 415, title: 'Encoded request bodies are not accepted' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The media type is not accepted here' },
  RANGE_NOT_SATISFIABLE: { status: 416, title: 'The range lies outside the resource' },
  EXPECTATION_FAILED: { status: 417, title: 'The expectation cannot be met' },
  /** Spelled as clients of the reference protocol compare it. */
  history_data_invalid: { status: 422, title: 'The data is not what its hash promises' },
  UPGRADE_REQUIRED: { status: 426, title: 'The resource speaks another protocol' },
  TOO_MANY_REQUESTS: { status: 429, title: 'Too many requests', headers: ['Retry-After', '1'] },
  HEADERS_TOO_LARGE: { status: 431, title: 'The request header exceeds the limit' },
  INTERNAL: { status: 500, title: 'Unexpected failure' },
  TRANSFER_CODING_UNSUPPORTED: { status: 501, title: 'The transfer coding is not supported' },
  OVERLOADED: { status: 503, title: 'The server is busy', headers: ['Retry-After', '1'] },
  DRAINING: { status: 503, title: 'The server is shutting down', headers: ['Retry-After', '1'] },
  VERSION_UNSUPPORTED: { status: 505, title: 'The HTTP version is not supported' },
  NO_SPACE: { status: 507, title: 'Not enough free space' },
} as const

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
 * throw new HttpError('BODY_TOO_LARGE', { detail: `at most ${limit} bytes` })
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

  constructor(code: HttpErrorCode, options: HttpErrorOptions = {}) {
    const { status, title, headers: always = [] }: HttpErrorSpec = HTTP_ERRORS[code]
    const { detail, headers = [], members, cause } = options
    super(detail === undefined ? title : `${title}: ${detail}`, { cause })
    this.code = code
    this.status = status
    this.title = title
    this.detail = detail
    this.headers = [...always, ...headers]
    this.members = members
    this.#options = options
  }

  /** This failure, with more headers. */
  withHeaders(more: FlatHeaders): HttpError {
    const { headers = [] } = this.#options
    return new HttpError(this.code, { ...this.#options, headers: [...headers, ...more] })
  }
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
