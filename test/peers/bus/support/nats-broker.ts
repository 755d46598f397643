/** A real `nats-server`, and what a test does to it and over it. @module */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { connect, type NatsConnection } from '@nats-io/transport-node'
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
  let child: ChildProcess
  let log = ''
  const waiting = new Set<() => void>()

  async function start(port: number): Promise<void> {
    log = ''
    child = spawn('nats-server', ['-c', config, '-a', '127.0.0.1', '-p', String(port)], {
      stdio: ['ignore', 'ignore', 'pipe'],
      // Debian keeps it in sbin.
      env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` },
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text
      for (const wake of [...waiting]) wake()
    })
    child.once('close', () => {
      for (const wake of [...waiting]) wake()
    })
    await logs(/Server is ready/)
  }

  async function logs(pattern: RegExp): Promise<void> {
    while (!pattern.test(log)) {
      if (child.exitCode !== null) throw new Error(`nats-server ended: ${log}`)
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          waiting.delete(wake)
          resolve()
        }
        waiting.add(wake)
      })
    }
  }

  async function kill(): Promise<void> {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
  }

  await start(options.port ?? -1)
  t.after(kill)
  const port = Number(/client connections on 127\.0\.0\.1:(\d+)/.exec(log)?.[1])
  return {
    port,
    url: `nats://127.0.0.1:${port}`,
    freeze: () => void child.kill('SIGSTOP'),
    kill,
    restart: () => start(port),
    logs,
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
