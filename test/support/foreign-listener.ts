/** Somebody else who listens where a daemon was, and remembers all that is said. @module */

import { once } from 'node:events'
import { createServer, request as httpRequest, type RequestListener } from 'node:http'
import type { TestContext } from 'node:test'

/** A request as it came. */
export interface Heard {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface ForeignListener {
  readonly heard: readonly Heard[]
  close(): Promise<void>
}

/** Connection and framing, which belong to each connection. */
const OF_CONNECTION: ReadonlySet<string> = new Set(['host', 'connection', 'content-length'])

/** Listens on the address of `url`. @param answer Sees requests that were read to their end. */
export async function listenInstead(
  t: TestContext,
  url: string,
  answer: RequestListener,
): Promise<ForeignListener> {
  const heard: Heard[] = []
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    let body = ''
    for await (const text of request.setEncoding('utf8')) body += text
    const fields = Object.entries(headers).map(([name, value]) => [name, String(value)])
    heard.push({ method, path, headers: Object.fromEntries(fields), body })
    answer(request, response)
  })
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    if (server.listening) await once(server.close(), 'close')
  }
  t.after(close)
  const { hostname, port } = new URL(url)
  await once(server.listen(Number(port), hostname), 'listening')
  return { heard, close }
}

/** Sends a request that was heard to the server at `url`. @returns The status of the answer. */
export async function replay(url: string, { method, path, headers, body }: Heard): Promise<number> {
  const own = Object.entries(headers).filter(([name]) => !OF_CONNECTION.has(name))
  const outgoing = httpRequest(new URL(path, url), {
    method,
    headers: { ...Object.fromEntries(own), 'content-length': Buffer.byteLength(body) },
    agent: false,
  }).end(body)
  const [response] = await once(outgoing, 'response')
  response.destroy()
  return Number(response.statusCode)
}

/** Requests with everything that was heard, in each place where it could open something. */
export function forgeries(
  heard: readonly Heard[],
  routes: readonly (readonly [method: string, path: string, body: string])[],
): readonly Heard[] {
  const words = new Set(JSON.stringify(heard).match(/[\w.~+/-]{16,}=*/g))
  const logins = [...words].flatMap((word) => [
    { authorization: `Bearer ${word}` },
    { cookie: `clipgate_panel=${word}` },
  ])
  const headers = [...heard.map((one) => one.headers), ...logins]
  const asked = routes.flatMap(([method, path, body]) => {
    return headers.map((fields) => ({ method, path, body, headers: fields }))
  })
  const entered = [...words].map((word) => {
    return { method: 'GET', path: `/state?token=${word}&ticket=${word}`, headers: {}, body: '' }
  })
  return [...heard, ...asked, ...entered]
}
