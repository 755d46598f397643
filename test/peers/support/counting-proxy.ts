/**
 * The wire of one link: counts the bytes that go over it, and can be cut.
 * @module
 */

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { joinSockets } from './join-sockets.ts'

export interface CountingProxy {
  /** Where to connect to instead. */
  readonly url: string
  /** Bytes so far, both ways. */
  readonly bytes: number
  /** Ends all connections, and takes no new ones. */
  cut(): void
  mend(): void
}

/** Stands before a server until the test ends. */
export async function startProxy(t: TestContext, target: string): Promise<CountingProxy> {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  let ended = 0
  let isCut = false

  const server = createServer((near) => {
    if (isCut) return void near.destroy()
    const far = connect(Number(port), hostname)
    joinSockets(near, far, open, ({ bytesRead }) => (ended += bytesRead))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const cut = (): void => {
    isCut = true
    for (const socket of open) socket.destroy()
  }
  t.after(() => {
    cut()
    server.close()
  })
  // `listen` was given an address, so this is one.
  const address = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${address.port}`,
    get bytes() {
      return [...open].reduce((sum, socket) => sum + socket.bytesRead, ended)
    },
    cut,
    mend: () => {
      isCut = false
    },
  }
}
