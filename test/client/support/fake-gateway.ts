/** A server that answers as a test says, and remembers what it was asked. @module */

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { connect, type ConnectOptions } from '../../../src/client.ts'
import { listen } from '../../support/listen.ts'

export const CONTENT_ID = `blake3v1:${'0123456789abcdef'.repeat(4)}` as const

export const USER = 'phone_1'
export const PASSWORD = 'päss:wörd €'

/** One request, read to its end. */
export interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export type Respond = (response: ServerResponse, request: Received) => void

export interface FakeGatewayOptions extends ConnectOptions {
  /** Answers before the body of the request is there. */
  readonly early?: Respond
}

/** Serves on a free port until the test ends. */
export async function startFakeGateway(
  t: TestContext,
  respond: Respond,
  { early, ...options }: FakeGatewayOptions = {},
) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const { method, url, headers } = request
    const chunks: Buffer[] = []
    early?.(response, { method, url, headers, body: Buffer.alloc(0) })
    if (early !== undefined) return
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const whole = { method, url, headers, body: Buffer.concat(chunks) }
      received.push(whole)
      respond(response, whole)
    })
  })
  const url = `http://127.0.0.1:${await listen(t, server)}`
  return { url, received, client: connect({ url, username: USER, password: PASSWORD }, options) }
}

/** Answers with a JSON body. */
export function json(body: unknown, { status = 200, headers = {} } = {}): Respond {
  return (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }
}

/** Answers uploads and pushes as a gateway does. */
export const accept: Respond = (response, { url }) => {
  if (url?.startsWith('/file/') === true) response.end()
  else response.end(JSON.stringify({ contentId: CONTENT_ID }))
}
