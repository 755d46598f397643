/** The wire of one link: counts the bytes that go over it, and can be cut. @module */

import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { listen } from '../../support/listen.ts'
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
  const { hostname, port: targetPort } = new URL(target)
  const open = new Set<Socket>()
  let ended = 0
  let isCut = false

  const server = createServer((near) => {
    if (isCut) return void near.destroy()
    const far = connect(Number(targetPort), hostname)
    joinSockets(near, far, open, ({ bytesRead }) => (ended += bytesRead))
  })
  const port = await listen(t, server)
  const cut = (): void => {
    isCut = true
    for (const socket of open) socket.destroy()
  }
  t.after(cut)
  return {
    url: `http://127.0.0.1:${port}`,
    get bytes() {
      return [...open].reduce((sum, socket) => sum + socket.bytesRead, ended)
    },
    cut,
    mend: () => {
      isCut = false
    },
  }
}
