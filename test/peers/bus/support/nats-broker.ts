/** A real `nats-server`, and what a test does to it and over it. @module */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { startProgram, type RunningProgram } from '../../../support/start-program.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

export interface Broker {
  readonly port: number
  readonly url: string
  /** It is there, and answers nobody. */
  freeze(): void
  /** SIGKILL, and waits for its end. */
  kill(): Promise<void>
  /** Starts it again on the same port. */
  restart(): Promise<void>
  /** Resolves once it has logged something that fits. */
  logs(pattern: RegExp): Promise<void>
}

export interface BrokerOptions {
  /** More lines for its configuration. */
  readonly config?: string
  readonly port?: number
}

/** Starts a broker on a free port. It is killed when the test ends. */
export async function startBroker(t: TestContext, options: BrokerOptions = {}): Promise<Broker> {
  const folder = await temporaryFolder(t)
  const config = join(folder, 'nats.conf')
  await writeFile(config, options.config ?? '')
  const start = (port: number): Promise<RunningProgram> =>
    startProgram(['nats-server', '-c', config, '-a', '127.0.0.1', '-p', String(port)], {
      ready: /Server is ready/,
    })
  let server = await start(options.port ?? -1)
  t.after(() => server.kill())
  const [, digits] = await server.says(/client connections on 127\.0\.0\.1:(\d+)/)
  const port = Number(digits)
  return {
    port,
    url: `nats://127.0.0.1:${port}`,
    freeze: () => server.freeze(),
    kill: () => server.kill(),
    restart: async () => {
      server = await start(port)
    },
    logs: async (pattern) => void (await server.says(pattern)),
  }
}

/** A client of the test itself. */
export async function connectTester(
  t: TestContext,
  { url }: Pick<Broker, 'url'>,
): Promise<NatsConnection> {
  const connection = await connect({ servers: url, reconnect: false })
  t.after(() => connection.close())
  return connection
}
