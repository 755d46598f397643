/**
 * The gateway behind the server of the daemon, and a client that asks it for
 * exactly what a test says.
 * @module
 */

import type { TestContext } from 'node:test'
import { createGateway } from '../../../src/gateway/create-gateway.ts'
import { HEADER_MS } from '../../../src/http/connection-table.ts'
import { startServer } from '../../../src/http/server.ts'
import { serveGateway, type ServeGatewayOptions } from '../../support/gateway.ts'
import { createPhone } from '../../support/phone.ts'
import { RawClient, type RawResponse } from '../../support/raw-http.ts'

export type Answer = RawResponse

/** A request, byte for byte; text is latin1. */
export interface RawRequest {
  readonly method: string
  readonly target: string
  readonly version?: string
  /** Whole lines, besides `Host`, `Authorization` and `Content-Length`. */
  readonly fields?: readonly string[]
  readonly body?: string
  /** Shows no credentials. */
  readonly isAnonymous?: boolean
  /** Stops in the middle of the header, or says more than it sends and hangs up. */
  readonly cut?: 'header' | 'body'
}

export type Station = Awaited<ReturnType<typeof openStation>>

/** Serves until the test ends, with one phone paired. */
export async function openStation(t: TestContext, options: ServeGatewayOptions = {}) {
  const gateway = await serveGateway(t, options)
  const server = await startServer({
    listener: createGateway(gateway, { version: '1.2.3', ...options }),
    host: '127.0.0.1',
    port: 0,
    maxConnections: 100,
    maxConnectionsPerAddress: 100,
    clock: gateway.clock,
  })
  t.after(() => server.stop(0))

  /** Asks on a connection of its own. */
  async function ask(request: RawRequest): Promise<Answer> {
    const client = await RawClient.open(t, server.port)
    client.send(formatRequest(request, gateway.authorization))
    if (request.cut === 'body') client.socket.end()
    if (request.cut === 'header') {
      // By the time that somebody else is answered the beginning of the header has come.
      await send('GET /healthz HTTP/1.1\r\nHost: box\r\n\r\n')
      gateway.clock.advance(HEADER_MS)
    }
    let answer = await client.read(request.method)
    // One that says where the upload goes on.
    if (answer.status === 104) answer = await client.read(request.method)
    client.close()
    return answer
  }

  /** Sends bytes on a connection of their own; the status of the first answer. */
  async function send(bytes: string): Promise<number> {
    const client = await RawClient.open(t, server.port)
    const { status } = await client.send(bytes).read()
    client.close()
    return status
  }

  const url = `http://127.0.0.1:${server.port}`
  const { username } = gateway.device
  const phone = createPhone({ username, password: gateway.password }, url)
  return { ...gateway, url, port: server.port, phone, ask, send }
}

function formatRequest(request: RawRequest, authorization: string): string {
  const { method, target, version = 'HTTP/1.1', fields = [], body, isAnonymous, cut } = request
  const lines = [`${method} ${target} ${version}`, 'Host: box']
  if (cut === 'header') return lines.join('\r\n')
  if (isAnonymous !== true) lines.push(`Authorization: ${authorization}`)
  if (body !== undefined) lines.push(`Content-Length: ${body.length + (cut === 'body' ? 1 : 0)}`)
  return [...lines, ...fields, '', body ?? ''].join('\r\n')
}
