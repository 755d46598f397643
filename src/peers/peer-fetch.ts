/**
 * Sends the requests of one link to another daemon: what `fetch` does, with streamed bodies of known
 * length and certificates that are pinned.
 *
 * Follows no redirection, keeps no cookie, and sends nothing before it knows whom it talks to.
 *
 * @module
 */

import { timingSafeEqual } from 'node:crypto'
import {
  Agent as HttpAgent, request as httpRequest,
  type AgentOptions, type ClientRequest, type IncomingMessage, type RequestOptions,
} from 'node:http'
import type * as HttpsModule from 'node:https'
import type { Agent as HttpsAgent } from 'node:https'
import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type * as TlsModule from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
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
  let secure: Secure | undefined
  const openSecure = (): Secure => (secure ??= loadSecure(fingerprint, options))
  return {
    fetch: async (url, init) => {
      const isSecure = new URL(url).protocol === 'https:'
      const { agent, request } = isSecure ? openSecure() : { agent: plain, request: httpRequest }
      return send(url, init, (target, given) => request(target, { ...given, agent }))
    },
    close: () => {
      plain.destroy()
      secure?.agent.destroy()
    },
  }
}

interface Secure {
  readonly agent: HttpsAgent
  readonly request: typeof HttpsModule.request
}

/** TLS costs megabytes, which links on a network of one's own do without. */
function loadSecure(fingerprint: string | undefined, options: AgentOptions): Secure {
  const require = createRequire(import.meta.url)
  const { Agent, request }: typeof HttpsModule = require('node:https')
  const agent = new Agent(options)
  if (fingerprint === undefined) return { agent, request }
  const { connect }: typeof TlsModule = require('node:tls')
  return { agent: pin(agent, fingerprint, connect), request }
}

type Request = (target: URL, options: RequestOptions) => ClientRequest

async function send(url: string, init: FetchInit, request: Request): Promise<Response> {
  const { method, headers, body, signal } = init
  signal.throwIfAborted()
  const target = new URL(url)
  const length = body instanceof Uint8Array ? body.byteLength : body?.size
  const sized = length === undefined ? {} : { 'Content-Length': String(length) }
  const options = { method, headers: { ...headers, ...sized }, signal }
  const outgoing = request(target, options)
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
function pin(agent: HttpsAgent, fingerprint: string, connectTls: typeof TlsModule.connect): HttpsAgent {
  const wanted = Buffer.from(fingerprint, 'hex')
  const isWanted = (socket: TlsModule.TLSSocket): boolean => {
    const { fingerprint256 = '' } = socket.getPeerCertificate()
    const given = Buffer.from(fingerprint256.replaceAll(':', ''), 'hex')
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  }
  agent.createConnection = (options, callback) => {
    // What an agent asks for is what `tls.connect` takes.
    const socket = connectTls({ ...(options as ConnectionOptions), rejectUnauthorized: false })
    const settle = (error: Error | null): void => {
      socket.off('error', settle)
      callback?.(error, socket)
    }
    socket.on('error', settle)
    socket.once('secureConnect', () => {
      if (isWanted(socket)) return settle(null)
      socket.destroy()
      settle(Object.assign(new Error('another certificate'), { code: 'CERTIFICATE_NOT_PINNED' }))
    })
    return undefined
  }
  return agent
}
