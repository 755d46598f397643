/**
 * Ports of loopback, for programs that cannot choose one and say which.
 * @module
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'
import type { StartedProcess } from './processes.ts'

/** How exactly the start of such a program is known. */
const PAUSE_MS = 2

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('Cannot find a free port')
  return address.port
}

/** Starts a program and waits until it listens on `port`. */
export async function startOnPort(
  cleanup: AsyncCleanup,
  port: number,
  [program, ...args]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Pick<StartedProcess, 'pid' | 'startMs' | 'stop'>> {
  const start = performance.now()
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const exited = once(child, 'exit')
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await exited
  }
  cleanup.add(stop)
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`A program under test ended: ${stderr}`)
    await sleep(PAUSE_MS)
  }
  const startMs = performance.now() - start
  if (child.pid === undefined) throw new Error(`Cannot start "${program}"`)
  return { pid: child.pid, startMs, stop }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
