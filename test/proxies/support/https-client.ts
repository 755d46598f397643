/**
 * A client that sends targets and headers as it is told, in HTTP/1.1 or HTTP/2, and a body at the
 * pace of whoever makes it.
 * @module
 */

import { once } from 'node:events'
import { request as plainRequest, type IncomingMessage } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { request as secureRequest } from 'node:https'
import { connect } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { SITE } from './certificate.ts'

/** What phones speak through proxies, and what scripts and older apps speak. */
export type HttpVersion = 'HTTP/1.1' | 'HTTP/2'

export const HTTP_VERSIONS: readonly HttpVersion[] = ['HTTP/1.1', 'HTTP/2']

export interface ClientRequest {
  readonly method?: string
  /** Sent as it is. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | AsyncIterable<Uint8Array>
}

export interface ClientAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Readable
  /** How often the client was told to go on with its body. */
  readonly continues: number
}

export interface Client {
  /** Each request has a connection of its own. With `expect`, the body waits for leave. */
  send(request: ClientRequest): Promise<ClientAnswer>
}

export interface ClientOptions {
  readonly port: number
  /** The authority to trust; without one it is plain HTTP. */
  readonly certificate: string | undefined
  readonly version: HttpVersion
  /** Where it connects from. */
  readonly localAddress?: string | undefined
}

/** The default of 64 KiB makes downloads slow, as no client for real use is. */
const WINDOW: number = 1024 * 1024

/** Makes a client; its connections end with the test. */
export function createClient(t: TestContext, options: ClientOptions): Client {
  return { send: (request) => (options.version === 'HTTP/2' ? send2 : send1)(t, options, request) }
}

function send1(
  t: TestContext,
  { port, certificate, localAddress }: ClientOptions,
  { method = 'GET', path, headers = {}, body }: ClientRequest,
): Promise<ClientAnswer> {
  const request = (certificate === undefined ? plainRequest : secureRequest)({
    host: '127.0.0.1',
    port,
    localAddress,
    agent: false,
    ca: certificate,
    servername: SITE,
    method,
    path,
    headers: { host: SITE, ...headers },
  })
  t.after(() => request.destroy())
  let continues = 0
  request.on('continue', () => (continues += 1))
  return new Promise((resolve, reject) => {
    request.on('error', reject).on('response', (response: IncomingMessage) => {
      const { statusCode: status = 0, rawHeaders } = response
      resolve({ status, headers: fieldsOf(rawHeaders), body: response, continues })
    })
    if (headers['expect'] === undefined) {
      pour(body, request, reject)
    } else {
      request.flushHeaders()
      request.once('continue', () => pour(body, request, reject))
    }
  })
}

function send2(
  t: TestContext,
  { port, certificate, localAddress }: ClientOptions,
  { method = 'GET', path, headers = {}, body }: ClientRequest,
): Promise<ClientAnswer> {
  const session = connectHttp2(`https://${SITE}`, {
    createConnection: () => {
      const from = localAddress === undefined ? {} : { localAddress }
      const socket = connect({ host: '127.0.0.1', port, ...from })
      return connectTls({ socket, ca: certificate, servername: SITE, ALPNProtocols: ['h2'] })
    },
    settings: { initialWindowSize: WINDOW },
  })
  session.once('connect', () => session.setLocalWindowSize(WINDOW))
  t.after(() => session.destroy())
  return new Promise((resolve, reject) => {
    session.on('error', reject)
    const fields = { ':method': method, ':path': path, ...headers }
    const request = session.request(fields, { endStream: body === undefined })
    request.on('error', reject).on('response', ({ ':status': status = 0, ...answered }) => {
      const list = Object.entries(answered).flatMap(([name, value]) => [name, String(value)])
      resolve({ status, headers: fieldsOf(list), body: request, continues: 0 })
    })
    if (body !== undefined) pour(body, request, reject)
  })
}

/** Sends a body, for as long as somebody reads it: an answer may come before its end. */
function pour(
  body: ClientRequest['body'],
  request: Writable,
  fail: (error: unknown) => void,
): void {
  if (typeof body === 'object') pump(body, request).catch(fail)
  else request.end(body)
}

async function pump(body: AsyncIterable<Uint8Array>, request: Writable): Promise<void> {
  const closed = new Promise((resolve) => request.once('close', resolve))
  for await (const chunk of body) {
    if (request.destroyed) return
    if (!request.write(chunk)) await Promise.race([once(request, 'drain'), closed])
  }
  request.end()
}

function fieldsOf(raw: readonly string[]): Readonly<Record<string, string>> {
  const names = raw.filter((_, index) => index % 2 === 0)
  return Object.fromEntries(names.map((name, at) => [name.toLowerCase(), raw[2 * at + 1] ?? '']))
}
