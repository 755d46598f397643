/**
 * Ports of loopback, for programs that cannot choose one and say which.
 *
 * @module
 */

import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

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

/** @param findFailure What the program said before it ended, if it has. */
export async function waitForPort(
  port: number,
  findFailure: () => string | undefined,
): Promise<void> {
  while (!(await accepts(port))) {
    const failure = findFailure()
    if (failure !== undefined) throw new Error(`A program under test ended: ${failure}`)
    await sleep(PAUSE_MS)
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
