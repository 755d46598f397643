/** The server that a client talks to: where it is, and what it wants to hear. @module */

import { basicAuthorization } from '../link/base64url.ts'
import { ClientError } from './client-error.ts'
import { keepAliveClock, type Clock } from '../lib/clock.ts'

/** Where a server is, and how to get in. */
export interface Credentials {
  /** Base URL of the server, `http` or `https`, without query and fragment. */
  readonly url: string
  readonly username: string
  readonly password: string
}

/** Ready to send requests to. Holds the password: never log one. */
export interface Server {
  /** Without a slash at its end. */
  readonly base: string
  /** The value of the `Authorization` header. */
  readonly authorization: string
  /** How long to wait while nothing moves, in milliseconds. */
  readonly timeoutMs: number
  readonly clock: Clock
  /** Spreads attempts to come back; that of the runtime, unless given. */
  readonly random: (() => number) | undefined
  readonly send: Send
}

/** Sends requests: the `fetch` of the runtime, or a function that does the same. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>

/** The request that {@link Fetch} gets with the URL. */
export interface FetchInit extends Omit<RequestInit, 'body'> {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly body?: Uint8Array<ArrayBuffer> | Blob
}

/** Sends a request, whose body may be streamed from anywhere. */
export type Send = (url: string, init: SendInit) => Promise<FetchedResponse>

/** The request that {@link Send} gets with the URL. */
export interface SendInit extends Omit<FetchInit, 'body'> {
  readonly body?: Uint8Array<ArrayBuffer> | ByteSource
}

/** As much of a `Response` as is used here. */
export interface FetchedResponse extends Pick<Response, 'ok' | 'status' | 'headers'> {
  readonly body: FetchedBody | null
}

/** As much of a `ReadableStream` as is used here: one costs more than the bytes that pass it. */
export interface FetchedBody {
  getReader(): BodyReader
  cancel(reason?: unknown): Promise<void>
}

/** As much of the reader of a stream as is used here. */
export interface BodyReader {
  /** @returns No value at the end. */
  read(): Promise<{ readonly value?: Uint8Array<ArrayBuffer> | undefined }>
  /** Says that a value is not used any more: there, memory is used again. */
  free?(value: Uint8Array): void
  cancel(reason?: unknown): Promise<void>
}

/** Bytes to be sent, in a stream of known size. A `Blob` is one. */
export interface ByteSource extends Pick<Blob, 'size' | 'type'> {
  stream(): ReadableStream<Uint8Array<ArrayBuffer>> | AsyncIterable<Uint8Array>
  /** The bytes from an offset on. */
  slice(start: number): ByteSource
}

/** Options of {@link openServer}. */
export interface ServerOptions {
  readonly timeoutMs?: number | undefined
  readonly clock?: Clock | undefined
  readonly random?: (() => number) | undefined
  readonly send?: Send | undefined
}

/** A phone on a bad network gets up within this. */
const TIMEOUT_MS = 30_000

/** Checks address and credentials. Sends nothing. @throws {ClientError} `SERVER_INVALID`. */
export function openServer(
  { url, username, password }: Credentials,
  { timeoutMs = TIMEOUT_MS, clock = keepAliveClock, random, send = sendWith() }: ServerOptions = {},
): Server {
  const authorization = basic(username, password)
  return { base: baseOf(url), authorization, timeoutMs, clock, random, send }
}

/**
 * Sends requests with a `fetch`, which takes no other streams than a `Blob`.
 *
 * @param given Without it, the one of the runtime, looked up for each request: a program may have
 *   put another one in its place.
 */
export function sendWith(given?: Fetch): Send {
  return async (url, { body, ...init }) => {
    const send = given ?? fetch
    if (body === undefined) return send(url, init)
    if (body instanceof Uint8Array || body instanceof Blob) return send(url, { ...init, body })
    throw new ClientError('ARGUMENT_INVALID', { reason: 'the bytes are not a Blob' })
  }
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

/** @throws {ClientError} when they cannot be sent. */
function basic(username: string, password: string): string {
  if (username === '' || username.includes(':') || !username.isWellFormed()) {
    throw new ClientError('SERVER_INVALID', { reason: 'the user name cannot be sent' })
  }
  if (password === '' || !password.isWellFormed()) {
    throw new ClientError('SERVER_INVALID', { reason: 'the password cannot be sent' })
  }
  return basicAuthorization(username, password)
}
