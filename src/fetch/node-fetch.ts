/**
 * Sends requests to a daemon, of this machine or another: what `fetch` does, with streamed bodies
 * of known length and certificates that are pinned, and never through a proxy of the environment.
 *
 * Follows no redirection, keeps no cookie, and sends nothing before it knows whom it talks to.
 * @module
 */

import {
  Agent as HttpAgent,
  request as httpRequest,
  type AgentOptions,
  type ClientRequestArgs,
  type IncomingMessage,
} from 'node:http'
import type * as HttpsModule from 'node:https'
import { createRequire } from 'node:module'
import { connect as connectPlain, type NetConnectOpts, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type * as TlsModule from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import { ClientError } from '../client/client-error.ts'
import type { FetchedBody, FetchedResponse, Send, SendInit } from '../client/server.ts'
import { keepAliveClock } from '../lib/clock.ts'
import {
  checkConnections,
  isPinned,
  type CheckedRequest,
  type ConnectionChecks,
  type Dial,
} from './check-connection.ts'
import { takeLongBody } from './long-body.ts'

/** Connections that are kept for the next request; one more is the event stream. */
const MAX_IDLE_SOCKETS = 2

/** Answers that have no body, whatever their headers say (RFC 9110, 15). */
const BODILESS: readonly number[] = [204, 205, 304]

/** A file that was written to is not read any further. */
const CHANGED = 'it may have changed meanwhile; try again'

/** Sends requests over connections of its own. */
export interface NodeFetch {
  readonly fetch: Send
  /** Ends all connections. */
  close(): void
}

/** Checks of connections, and the time that they may take. */
export interface NodeFetchOptions {
  /** Why no connection to an address may be used, if so: asked before anything is sent. */
  readonly refuse?: ConnectionChecks['refuse']
  readonly clock?: ConnectionChecks['clock'] | undefined
}

/**
 * Makes a sender of requests.
 *
 * @param fingerprint SHA-256 of the one certificate that is accepted, as 64 hex digits; without it
 *   certificates are checked as browsers do.
 */
export function createNodeFetch(
  fingerprint?: string | undefined,
  { refuse, clock = keepAliveClock }: NodeFetchOptions = {},
): NodeFetch {
  const options = { keepAlive: true, maxFreeSockets: MAX_IDLE_SOCKETS } as const
  const checks = { refuse, clock }
  const agent = new HttpAgent(options)
  const end = checkConnections(agent, { open: openPlain, readyEvent: 'connect' }, checks)
  const plain: Sender = { agent, request: httpRequest, end }
  let secure: Sender | undefined
  return {
    fetch: async (url, init) => {
      if (new URL(url).protocol !== 'https:') return send(url, init, plain)
      secure ??= loadSecure(fingerprint, options, checks)
      return send(url, init, secure)
    },
    close: () => {
      plain.end()
      secure?.end()
    },
  }
}

interface Sender {
  readonly agent: HttpAgent
  readonly request: typeof httpRequest
  readonly end: () => void
}

/** TLS costs megabytes, which daemons on a network of one's own do without. */
function loadSecure(
  fingerprint: string | undefined,
  options: AgentOptions,
  checks: ConnectionChecks,
): Sender {
  const require = createRequire(import.meta.url)
  const { Agent, request }: typeof HttpsModule = require('node:https')
  const { connect }: typeof TlsModule = require('node:tls')
  const agent = new Agent(options)
  // Without a callback, it gives a socket at once.
  const openTrusted = agent.createConnection.bind(agent) as Dial['open']
  // An agent passes the options that `tls.connect` takes.
  const openAny = (given: ClientRequestArgs): Socket =>
    connect({ ...(given as ConnectionOptions), rejectUnauthorized: false })
  const dial: Dial = {
    readyEvent: 'secureConnect',
    ...(fingerprint === undefined
      ? { open: openTrusted }
      : { open: openAny, check: isPinned(fingerprint) }),
  }
  return { agent, request, end: checkConnections(agent, dial, checks) }
}

const openPlain = (options: ClientRequestArgs): Socket => connectPlain(options as NetConnectOpts)

async function send(
  url: string,
  init: SendInit,
  { request, agent }: Sender,
): Promise<FetchedResponse> {
  const { method, headers, body, signal } = init
  signal.throwIfAborted()
  const target = new URL(url)
  const length = body instanceof Uint8Array ? body.byteLength : body?.size
  const sized = length === undefined ? {} : { 'Content-Length': String(length) }
  const all = { ...headers, ...sized }
  const options: CheckedRequest = { method, headers: all, signal, givenUp: signal, agent }
  const outgoing = request(target, options)
  let refuse: (error: ClientError) => void = () => {}
  const answered = new Promise<Answer>((resolve, reject) => {
    refuse = reject
    outgoing.on('response', (answer) => {
      resolve({ answer, long: method === 'GET' ? takeLongBody(answer) : undefined })
    })
    outgoing.on('error', (cause) => {
      reject(cause instanceof ClientError ? cause : new TypeError('fetch failed', { cause }))
    })
  })
  if (body === undefined || body instanceof Uint8Array) {
    outgoing.end(body)
  } else {
    const chunks = body.stream() as AsyncIterable<Uint8Array>
    const source = Readable.from(exactly(chunks, body.size, refuse), { objectMode: false })
    // A failure on the way ends the request, whose error is the one that counts; and an early
    // answer ends the sending.
    pipeline(source, outgoing, { signal }).catch((error: Error) => outgoing.destroy(error))
    answered.then(
      ({ answer }) => void (answer.statusCode !== 200 && source.destroy()),
      () => source.destroy(),
    )
  }
  return toResponse(await answered)
}

/**
 * Passes a body on that has the length that was announced: whoever waits for bytes that never come
 * waits long.
 *
 * @param refuse Told first when it cannot be read, or has become another: the request that breaks
 *   off then has an error that says less, or none where there is no connection yet.
 */
async function* exactly(
  chunks: AsyncIterable<Uint8Array>,
  size: number,
  refuse: (error: ClientError) => void,
): AsyncGenerator<Uint8Array, void> {
  let left = size
  const iterator = chunks[Symbol.asyncIterator]()
  try {
    while (left >= 0) {
      // A throw at a `yield` is a failure of the connection.
      const next = await iterator.next().catch(() => undefined)
      if (next?.done === true) break
      left = next === undefined ? -1 : left - next.value.length
      if (next !== undefined && left >= 0) yield next.value
    }
  } finally {
    await iterator.return?.()
  }
  if (left === 0) return
  const error = new ClientError('SOURCE_UNREADABLE', { reason: CHANGED })
  refuse(error)
  throw error
}

interface Answer {
  readonly answer: IncomingMessage
  readonly long: FetchedBody | undefined
}

function toResponse({ answer, long }: Answer): FetchedResponse {
  const { statusCode: status = 0, rawHeaders } = answer
  if (status >= 300 && status < 400 && status !== 304) {
    answer.destroy()
    throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') })
  }
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  }
  if (BODILESS.includes(status)) {
    answer.resume()
    return new Response(null, { status, headers })
  }
  return { status, ok: status >= 200 && status < 300, headers, body: long ?? bodyOf(answer) }
}

/** A web stream would copy every chunk. */
function bodyOf(answer: IncomingMessage): FetchedBody {
  const chunks: AsyncIterator<Buffer<ArrayBuffer>, undefined> = answer.iterator()
  const cancel = async (): Promise<void> => void answer.destroy()
  return { getReader: () => ({ read: () => chunks.next(), cancel }), cancel }
}
