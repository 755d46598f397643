/**
 * The gateway with the verifier of the daemon, behind the server of the daemon: all
 * of a login but Argon2id, whose runs are counted instead.
 * @module
 */

import { setImmediate as tick } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import { RememberingVerifier } from '../../src/devices/credential-verifier.ts'
import { createGateway } from '../../src/gateway/create-gateway.ts'
import { startServer } from '../../src/http/server.ts'
import type { FakeClock } from './fake-clock.ts'
import { isHashOf } from './fake-hasher.ts'
import { serveGateway, type ServeGatewayOptions } from './gateway.ts'
import { createPhone } from './phone.ts'
import { RawClient, type RawResponse } from './raw-http.ts'
import { addTwin } from './secure-twin.ts'

export type GuardedGateway = Awaited<ReturnType<typeof serveGuarded>>

/** Serves until the test ends, with one phone paired. */
export async function serveGuarded(t: TestContext, options: ServeGatewayOptions = {}) {
  const gateway = await serveGateway(t, options)
  const { devices, clock } = gateway
  /** Runs so far, with the hashes they were about. */
  const runs: (string | undefined)[] = []
  const verifier = new RememberingVerifier({
    registry: devices,
    hasher: {
      verifyPassword: async (password, hash) => {
        runs.push(hash)
        return isHashOf(password, hash)
      },
    },
  })
  const listener = createGateway({ ...gateway, verifier }, { version: '1.2.3', ...options })
  const limits = { maxConnections: 500, maxConnectionsPerAddress: 500 }
  const where = { listener, host: '127.0.0.1', port: 0, ...limits }
  const server = await startServer(where)
  t.after(() => server.stop(0))
  await addTwin(t, server, where)

  /** Sends bytes on a connection of their own, and reads the first answer. */
  async function send(bytes: string, method?: string): Promise<RawResponse> {
    const client = await RawClient.open(t, server.port)
    const answer = await client.send(bytes).read(method)
    client.close()
    return answer
  }

  const url = `http://127.0.0.1:${server.port}`
  const { username } = gateway.device
  return {
    ...gateway,
    gateway: listener,
    url,
    port: server.port,
    runs,
    phone: createPhone({ username, password: gateway.password }, url),
    send,
    /** Asks for the document; `fields` are whole lines. */
    ask: (...fields: readonly string[]) => send(formatGet(...fields)),
    /** Lets time pass until there is an answer; for answers that are held back. */
    answered: <T>(promise: Promise<T>) => passTime(clock, promise),
  }
}

/** The head of a request; `fields` are whole lines. */
export function formatGet(...fields: readonly string[]): string {
  return ['GET /Sync.json HTTP/1.1', 'Host: box', ...fields, '', ''].join('\r\n')
}

/** The header line of credentials. */
export function basic(username: string, password: string): string {
  return `Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/** Lets time pass until a promise has settled. */
export async function passTime<T>(clock: FakeClock, promise: Promise<T>): Promise<T> {
  let isSettled = false
  const settle = (): void => {
    isSettled = true
  }
  promise.then(settle, settle)
  while (!isSettled) {
    await tick()
    // No more than has to pass: once nothing is held back, the answer is on its way.
    if (clock.pending > 0) clock.advance(1)
  }
  return promise
}
