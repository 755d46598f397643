/**
 * A reverse proxy that passes everything on as it comes, but for one thing that it does wrong.
 * @module
 */

import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { TestContext } from 'node:test'
import { listen } from '../../support/listen.ts'

export interface Fault {
  /** Answers in place of the gateway; returns whether it did. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => boolean
  readonly changePath?: (path: string) => string
  /** Header fields on their way to the gateway, by lower-case name. */
  readonly changeRequest?: (headers: IncomingHttpHeaders) => OutgoingHttpHeaders
  /** Sends the answer of the gateway on, in place of the usual way; returns whether it does. */
  readonly answer?: (
    answer: IncomingMessage,
    response: ServerResponse,
    request: IncomingMessage,
  ) => boolean
  /** Reads a request whole before the gateway hears of it. */
  readonly isKeepingRequests?: boolean
}

export interface StandIn {
  readonly port: number
  readonly url: string
  /** Every login that came by. */
  readonly logins: ReadonlySet<string>
}

export interface StandInOptions {
  /** Base URL of the gateway. */
  readonly upstream: string
  readonly fault?: Fault
  /** Makes it speak TLS. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

/** Starts one on a free port, until the test ends. */
export async function startStandIn(
  t: TestContext,
  { upstream, fault = {}, tls }: StandInOptions,
): Promise<StandIn> {
  const logins = new Set<string>()
  const listener: RequestListener = (request, response) => {
    const { authorization } = request.headers
    if (authorization !== undefined) logins.add(authorization)
    // Clients and gateways leave as they like.
    response.on('error', () => undefined)
    if (fault.intercept?.(request, response) === true) return
    void forward(request, response, upstream, fault)
  }
  const server: Server = tls === undefined ? createServer() : createSecureServer(tls)
  server.on('request', listener).on('checkContinue', listener)
  const port = await listen(t, server)
  const scheme = tls === undefined ? 'http' : 'https'
  return { port, url: `${scheme}://127.0.0.1:${port}`, logins }
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  upstream: string,
  fault: Fault,
): Promise<void> {
  const { hostname, port } = new URL(upstream)
  const { method = 'GET', url = '/' } = request
  const path = fault.changePath?.(url) ?? url
  const headers = fault.changeRequest?.(request.headers) ?? request.headers
  const kept: Buffer[] = []
  if (fault.isKeepingRequests === true) {
    if (request.headers.expect !== undefined) response.writeContinue()
    try {
      // Nobody set an encoding, so these are bytes.
      for await (const chunk of request) kept.push(chunk as Buffer)
    } catch {
      // The client has left, and nobody else needs to know.
      return
    }
  }
  const outgoing = httpRequest({ hostname, port, method, path, headers, agent: false })
  outgoing.on('error', () => response.destroy())
  response.once('close', () => outgoing.destroy())
  outgoing.on('continue', () => response.writeContinue())
  outgoing.on('response', (answer) => {
    answer.on('error', () => response.destroy())
    if (fault.answer?.(answer, response, request) === true) return
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    response.flushHeaders()
    answer.pipe(response)
  })
  if (fault.isKeepingRequests === true) outgoing.end(Buffer.concat(kept))
  else request.pipe(outgoing)
}
