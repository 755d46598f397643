/**
 * A proxy from Debian's packages in a process of its own, with all that it writes in one folder.
 * @module
 */

import { once } from 'node:events'
import { createServer } from 'node:net'
import type { TestContext } from 'node:test'
import type { TestCertificate } from '../../support/certificates.ts'
import { startProgram } from '../../support/start-program.ts'

export interface ProxyProcess {
  /** For HTTPS. */
  readonly port: number
  /** Everything that it has logged so far. */
  logs(): string
  /** Traces of bodies that it kept in files, also of those that are gone again. */
  spooled(): Promise<readonly string[]>
}

export interface ProxyOptions {
  /** For its files; exists, and is its own. */
  readonly folder: string
  readonly certificate: TestCertificate
  /** Host and port of the gateway. */
  readonly upstream: string
}

/** Starts a proxy in front of a gateway, until the test ends. */
export type StartProxy = (t: TestContext, options: ProxyOptions) => Promise<ProxyProcess>

export interface ProxyCommand {
  readonly command: readonly [string, ...string[]]
  readonly env?: NodeJS.ProcessEnv
  /** What it logs once it accepts connections. */
  readonly ready: RegExp
  readonly stopSignal: NodeJS.Signals
}

const ATTEMPTS = 5

/**
 * Runs a server that can only be told a port, and not asked for one. A port may be taken between
 * our look and its start; then it is started on others.
 *
 * @returns What it has logged so far.
 */
export async function startOnFreePorts(
  t: TestContext,
  count: number,
  prepare: (ports: readonly number[]) => Promise<ProxyCommand>,
): Promise<{ readonly ports: readonly number[]; logs(): string }> {
  for (let attempt = 1; ; attempt++) {
    const ports = await findFreePorts(count)
    try {
      return { ports, logs: await startProxyProcess(t, await prepare(ports)) }
    } catch (error) {
      if (attempt === ATTEMPTS || !/address already in use/i.test(String(error))) throw error
    }
  }
}

/** Starts a proxy, and waits until it is ready. @returns What it has logged so far. */
export async function startProxyProcess(
  t: TestContext,
  { command, env = {}, ready, stopSignal }: ProxyCommand,
): Promise<() => string> {
  const proxy = await startProgram(command, { env, ready })
  t.after(() => proxy.kill(stopSignal))
  return () => proxy.log()
}

async function findFreePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  return servers.map((server) => {
    const address = server.address()
    server.close()
    if (address === null || typeof address === 'string') throw new Error('Cannot find a free port')
    return address.port
  })
}
