/**
 * The server that a client talks to: where it is, and what it wants to hear.
 *
 * @module
 */

import { ClientError } from './client-error.ts'
import { systemTiming, type Timing } from './timing.ts'

/** What a connect link says; `url` without query and fragment. */
export interface Credentials {
  readonly url: string
  readonly user: string
  readonly pwd: string
}

/** Ready to send requests to. Holds the password: never log one. */
export interface Server {
  /** Without a slash at its end. */
  readonly base: string
  /** The value of the `Authorization` header. */
  readonly authorization: string
  /** How long to wait while nothing moves, in milliseconds. */
  readonly timeoutMs: number
  readonly timing: Timing
  /** What sends requests. */
  readonly fetch: Fetch
}

/** As much of `fetch` as is used here. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchedResponse>

/** As much of a `Response` as is used here. */
export interface FetchedResponse extends Pick<Response, 'ok' | 'status' | 'headers'> {
  readonly body: FetchedBody | null
}

/** As much of a `ReadableStream` as is used here: one costs more than the bytes that pass it. */
export interface FetchedBody {
  getReader(): BodyReader
  cancel(reason?: unknown): Promise<void>
}

export interface BodyReader {
  /** @returns No value at the end. */
  read(): Promise<{ readonly value?: Uint8Array<ArrayBuffer> | undefined }>
  cancel(reason?: unknown): Promise<void>
}

export interface FetchInit extends Omit<RequestInit, 'body'> {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly body?: Uint8Array<ArrayBuffer> | ByteSource
}

/** Bytes to be sent; a `Blob` is one. The `fetch` of most runtimes takes no others. */
export interface ByteSource extends Pick<Blob, 'size' | 'type'> {
  stream(): ReadableStream<Uint8Array<ArrayBuffer>> | AsyncIterable<Uint8Array>
}

/** @throws {ClientError} `SERVER_INVALID`. */
export function openServer(
  { url, user, pwd }: Credentials,
  timeoutMs: number,
  timing: Timing = systemTiming,
  send: Fetch = webFetch,
): Server {
  return { base: baseOf(url), authorization: basic(user, pwd), timeoutMs, timing, fetch: send }
}

/** Looks it up for each request: a program may have put another one in its place. */
const webFetch: Fetch = (url, { body, ...init }) => {
  if (body === undefined) return fetch(url, init)
  if (body instanceof Uint8Array || body instanceof Blob) return fetch(url, { ...init, body })
  throw new ClientError('ARGUMENT_INVALID', { reason: 'the bytes are not a Blob' })
}

function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new ClientError('SERVER_INVALID', { reason: 'the URL must be one of http or https' })
  }
  const { origin, pathname, username, password, search, hash } = parsed
  if (username + password + search + hash !== '') {
    throw new ClientError('SERVER_INVALID', { reason: 'the URL may have a path, and no more' })
  }
  let end = pathname.length
  while (pathname.endsWith('/', end)) end--
  return origin + pathname.slice(0, end)
}

/** RFC 7617, with UTF-8. */
function basic(user: string, pwd: string): string {
  if (user === '' || user.includes(':') || !user.isWellFormed()) {
    throw new ClientError('SERVER_INVALID', { reason: 'the user name cannot be sent' })
  }
  if (pwd === '' || !pwd.isWellFormed()) {
    throw new ClientError('SERVER_INVALID', { reason: 'the password cannot be sent' })
  }
  let binary = ''
  for (const byte of new TextEncoder().encode(`${user}:${pwd}`)) binary += String.fromCharCode(byte)
  return `Basic ${btoa(binary)}`
}
