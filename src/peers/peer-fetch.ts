/**
 * Sends the requests of one link to another daemon: what `fetch` does, with streamed bodies of known
 * length and certificates that are pinned.
 *
 * Follows no redirection, keeps no cookie, and sends nothing before it knows whom it talks to.
 *
 * @module
 */

import { timingSafeEqual } from 'node:crypto'
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https'
import { Readable, type Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import type { Fetch, FetchInit } from '../client/server.ts'

/** Connections that are kept for the next request; one more is the event stream. */
const MAX_IDLE_SOCKETS = 2

/** Answers that have no body, whatever their headers say (RFC 9110, 15). */
const BODILESS: readonly number[] = [204, 205, 304]

export interface PeerFetch {
  readonly fetch: Fetch
  /** Ends all connections. */
  close(): void
}

/**
 * Makes what a link sends its requests with.
 *
 * @param fingerprint SHA-256 of the one certificate that is accepted, as 64 hex digits; without it
 *   certificates are checked as browsers do.
 */
export function createPeerFetch(fingerprint: string | undefined): PeerFetch {
  const options = { keepAlive: true, maxFreeSockets: MAX_IDLE_SOCKETS } as const
  const plain = new HttpAgent(options)
  const secure =
    fingerprint === undefined ? new HttpsAgent(options) : new PinnedAgent(fingerprint, options)
  return {
    fetch: (url, init) => send(url, init, { plain, secure }),
    close: () => {
      plain.destroy()
      secure.destroy()
    },
  }
}

interface Agents {
  readonly plain: HttpAgent
  readonly secure: HttpsAgent
}

async function send(url: string, init: FetchInit, agents: Agents): Promise<Response> {
  const { method, headers, body, signal } = init
  signal.throwIfAborted()
  const target = new URL(url)
  const length = body instanceof Uint8Array ? body.byteLength : body?.size
  const sized = length === undefined ? {} : { 'Content-Length': String(length) }
  const options = { method, headers: { ...headers, ...sized }, signal }
  const outgoing =
    target.protocol === 'https:'
      ? httpsRequest(target, { ...options, agent: agents.secure })
      : httpRequest(target, { ...options, agent: agents.plain })

  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve)
    outgoing.on('error', (cause) => reject(new TypeError('fetch failed', { cause })))
  })
  if (body === undefined || body instanceof Uint8Array) {
    outgoing.end(body)
  } else {
    const source = Readable.fromWeb(body.stream() as Parameters<typeof Readable.fromWeb>[0])
    // What goes wrong on the way ends the request, whose error is the one that counts; and an early
    // answer ends the sending.
    pipeline(source, outgoing, { signal }).catch((error: Error) => outgoing.destroy(error))
    answered.then(
      (answer) => void (answer.statusCode !== 200 && source.destroy()),
      () => source.destroy(),
    )
  }
  return toResponse(await answered)
}

function toResponse(answer: IncomingMessage): Response {
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
  // The types of Node's web streams and of the platform's are two descriptions of one thing.
  const body = Readable.toWeb(answer) as unknown as ReadableStream<Uint8Array<ArrayBuffer>>
  return new Response(body, { status, headers })
}

/** Accepts one certificate, whoever signed it and whatever its name. */
class PinnedAgent extends HttpsAgent {
  readonly #fingerprint: Buffer

  constructor(fingerprint: string, options: ConstructorParameters<typeof HttpsAgent>[0]) {
    super(options)
    this.#fingerprint = Buffer.from(fingerprint, 'hex')
  }

  override createConnection(
    options: RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    // What an agent asks for is what `tls.connect` takes.
    const socket = connectTls({ ...(options as ConnectionOptions), rejectUnauthorized: false })
    const settle = (error: Error | null): void => {
      socket.off('error', settle)
      callback?.(error, socket)
    }
    socket.on('error', settle)
    socket.once('secureConnect', () => {
      if (this.#accepts(socket)) return settle(null)
      socket.destroy()
      settle(Object.assign(new Error('another certificate'), { code: 'CERTIFICATE_NOT_PINNED' }))
    })
  }

  #accepts(socket: TLSSocket): boolean {
    const { fingerprint256 = '' } = socket.getPeerCertificate()
    const given = Buffer.from(fingerprint256.replaceAll(':', ''), 'hex')
    return given.length === this.#fingerprint.length && timingSafeEqual(given, this.#fingerprint)
  }
}
