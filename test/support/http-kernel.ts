/** A server on the HTTP kernel, for tests of what can be observed from outside. @module */

import assert from 'node:assert/strict'
import { Server } from 'node:http'
import type { TestContext } from 'node:test'
import { route } from '../../src/http/call.ts'
import { HttpError } from '../../src/http/http-error.ts'
import { createListener, type ListenerOptions } from '../../src/http/listener.ts'
import { empty, text } from '../../src/http/reply.ts'
import { startServer, type ServerOptions } from '../../src/http/server.ts'
import { RawClient } from './raw-http.ts'
import { addTwin } from './secure-twin.ts'

/** What logs in: `Authorization: yes`. */
export type Owner = 'owner'

export type KernelOptions = Partial<ListenerOptions<Owner>> & Partial<ServerOptions>

/** Serves until the test ends. `GET /`, with a login, and `GET /public` are always there. */
export async function serveKernel(t: TestContext, options: KernelOptions = {}) {
  const failures: { readonly error: HttpError; readonly id: string }[] = []
  const listener = createListener<Owner>({
    authenticate: ({ request }) => {
      if (request.headers.authorization !== 'yes') throw new HttpError('UNAUTHORIZED')
      return 'owner'
    },
    onFailure: (error, id) => failures.push({ error, id }),
    ...options,
    publicRoutes: [route('GET', '/public', () => empty(204)), ...(options.publicRoutes ?? [])],
    routes: [route('GET', '/', () => text('root')), ...(options.routes ?? [])],
  })
  const all: ServerOptions = {
    listener,
    host: '127.0.0.1',
    port: 0,
    maxConnections: 100,
    maxConnectionsPerAddress: 100,
    ...options,
  }
  const server = await startServer(all)
  t.after(() => server.stop(0))
  await addTwin(t, server, all)
  return {
    server,
    failures,
    port: server.port,
    url: `http://127.0.0.1:${server.port}`,
    connect: (): Promise<RawClient> => RawClient.open(t, server.port),
    /** Sends bytes on a connection of their own, and reads until the server has hung up. */
    ask: async (bytes: string): Promise<string> => {
      const client = await RawClient.open(t, server.port)
      return client.send(bytes).readToEnd()
    },
  }
}

/** A request head: `head('GET /', 'X-Name: value')`. Has a `Host` and a login. */
export function head(start: string, ...fields: readonly string[]): string {
  return [`${start} HTTP/1.1`, 'Host: box', 'Authorization: yes', ...fields, '', ''].join('\r\n')
}

/** The server of Node that listens on a port of this process. */
export function findServer(port: number): Server {
  const handles: unknown = Reflect.apply(Reflect.get(process, '_getActiveHandles'), process, [])
  assert.ok(Array.isArray(handles))
  const server = handles.find((handle) => {
    const address = handle instanceof Server ? handle.address() : null
    return typeof address === 'object' && address?.port === port
  })
  assert.ok(server instanceof Server)
  return server
}
