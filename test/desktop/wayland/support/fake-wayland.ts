/**
 * A compositor that tells what it offers, and can do nothing: for what no real one does on demand.
 * @module
 */

import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  formatWaylandMessage,
  formatWords,
  splitWaylandMessages,
} from '../../../../src/desktop/wayland/wayland-messages.ts'
import { Mailbox } from '../../../support/mailbox.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

/** Objects as the client names them, and opcodes, in the order of the protocol. */
const [REGISTRY, CALLBACK] = [2, 3]
const SYNC = 0

export class FakeWayland {
  readonly env: Readonly<Record<'XDG_RUNTIME_DIR' | 'WAYLAND_DISPLAY', string>>
  readonly socket: string
  /** Who connected. */
  readonly clients = new Mailbox<Socket>()

  /** Starts one that offers `interfaces`; ends with the test. */
  static async start(t: TestContext, interfaces: readonly string[]): Promise<FakeWayland> {
    return FakeWayland.startWith(t, (socket) => answer(socket, interfaces))
  }

  /** Starts one that does something else with those who connect. */
  static async startWith(t: TestContext, serve: (socket: Socket) => void): Promise<FakeWayland> {
    const folder = await temporaryFolder(t)
    const fake = new FakeWayland(folder)
    const sockets = new Set<Socket>()
    const server: Server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
      serve(socket)
      fake.clients.put(socket)
    })
    t.after(() => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
    await new Promise<void>((resolve) => server.listen(fake.socket, resolve))
    return fake
  }

  private constructor(folder: string) {
    this.env = { XDG_RUNTIME_DIR: folder, WAYLAND_DISPLAY: 'wayland-7' }
    this.socket = join(folder, 'wayland-7')
  }
}

/** The events that announce `interfaces`, and the end of them. */
export function announcement(interfaces: readonly string[]): Uint8Array {
  const globals = interfaces.map((name, index) => globalEvent(index + 1, name))
  return Buffer.concat([...globals, formatWaylandMessage(CALLBACK, 0, [0])])
}

function answer(socket: Socket, interfaces: readonly string[]): void {
  const push = splitWaylandMessages(({ object, opcode }) => {
    if (object === 1 && opcode === SYNC) socket.write(announcement(interfaces))
  })
  socket.on('data', (chunk) => push(chunk))
}

function globalEvent(name: number, interfaceName: string): Uint8Array {
  const text = Buffer.alloc(Math.ceil((interfaceName.length + 1) / 4) * 4)
  text.write(interfaceName, 'latin1')
  const body = Buffer.concat([
    formatWords([name, interfaceName.length + 1]),
    text,
    formatWords([1]),
  ])
  const words = Array.from({ length: body.length / 4 }, () => 0)
  const message = Buffer.from(formatWaylandMessage(REGISTRY, 0, words))
  message.set(body, message.length - body.length)
  return message
}
