/**
 * The way between the page and the daemon, which can break at any byte.
 * @module
 */

import { once } from 'node:events'
import {
  createServer,
  request as ask,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { connect, createServer as createRelay, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { listen } from '../../support/listen.ts'

export interface Wire {
  readonly url: string
  /** What the page has sent so far, such as `PUT /file/film.mp4`. */
  readonly requests: readonly string[]
  /** Bytes of files that have come from the page. */
  readonly bytes: number
  /**
   * Breaks the connection when this number of bytes of files has come.
   *
   * @param meanwhile Runs before it breaks, while nothing passes.
   * @param status What the near end answers then, as a proxy does; else it hangs up.
   */
  breakAt(bytes: number, meanwhile?: () => Promise<unknown>, status?: number): Promise<void>
  /** Asks before a request goes on, and before its answer does. */
  guard: Guard
}

/** Works on the way of a request; a connection is broken where it rejects. */
export interface Guard {
  ask?: (line: string) => Promise<unknown> | undefined
  answer?: (line: string, answer: IncomingMessage) => Promise<unknown> | undefined
}

interface Break {
  readonly at: number
  readonly meanwhile: () => Promise<unknown>
  readonly status: number | undefined
  readonly done: (work: Promise<unknown>) => void
}

/**
 * Leads to the gateway of a daemon, also when that starts again there.
 *
 * @param host The address of its near end.
 */
export async function layWire(
  t: TestContext,
  gateway: string,
  host: string = '127.0.0.1',
): Promise<Wire> {
  const { hostname, port } = new URL(gateway)
  const requests: string[] = []
  const breaks: Break[] = []
  const guard: Guard = {}
  let bytes = 0

  const server = createServer((request, response) => {
    const { method = '', url: path = '', rawHeaders, socket } = request
    const line = `${method} ${path}`
    if (method !== 'GET' && method !== 'POST') requests.push(line)
    const onward = ask({ hostname, port, method, path, headers: rawHeaders })
    const cut = (): void => {
      socket.destroy()
      onward.destroy()
    }
    onward.on('error', cut)
    response.on('close', () => onward.destroy())
    onward.on('response', (answer) => {
      goBack(line, answer, response).catch(cut)
    })
    goOn(line, request, onward).then((status) => {
      if (status === undefined) return
      onward
        .off('error', cut)
        .on('error', () => undefined)
        .destroy()
      // The rest comes all the same, as the client has not looked for an answer yet.
      request.resume()
      response.writeHead(status, { 'Content-Type': 'text/html' }).end('<h1>Web server is down</h1>')
    }, cut)
  })

  /** @returns The answer of the near end, when the far end has none. */
  async function goOn(line: string, request: IncomingMessage, onward: ClientRequest) {
    await guard.ask?.(line)
    const isFile = line.includes(' /file')
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      if (!onward.write(chunk)) await once(onward, 'drain')
      if (!isFile) continue
      bytes += chunk.length
      const [next] = breaks
      if (next === undefined || bytes < next.at) continue
      breaks.shift()
      const work = next.meanwhile()
      next.done(work)
      await work
      if (next.status !== undefined) return next.status
      throw new Error('The wire breaks here')
    }
    onward.end()
    return undefined
  }

  async function goBack(line: string, answer: IncomingMessage, response: ServerResponse) {
    await guard.answer?.(line, answer)
    const { statusCode = 0, statusMessage, headers } = answer
    response.writeHead(statusCode, statusMessage, headers)
    // Events come as they are.
    response.flushHeaders()
    answer.pipe(response)
    answer.on('error', () => response.destroy())
  }

  const url = `http://${host}:${await listen(t, server, host)}`
  return {
    url,
    requests,
    get bytes() {
      return bytes
    },
    breakAt: (at, meanwhile = async () => undefined, status) =>
      new Promise<unknown>((done) => {
        breaks.push({ at, meanwhile, status, done })
      }).then(() => undefined),
    guard,
  }
}

export interface Hole {
  readonly url: string
  /** From now on nothing passes, and nobody is told: the far end is asleep, or somewhere else. */
  open(): void
  close(): void
}

/** Leads to the gateway of a daemon, whatever is said there. */
export async function digHole(t: TestContext, gateway: string): Promise<Hole> {
  const { hostname, port } = new URL(gateway)
  const sockets = new Set<Socket>()
  let isOpen = false
  const server = createRelay((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk: Buffer) => to.write(chunk))
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (isOpen) from.pause()
    }
  })
  const url = `http://127.0.0.1:${await listen(t, server)}`
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  return {
    url,
    open: () => {
      isOpen = true
      for (const socket of sockets) socket.pause()
    },
    close: () => {
      isOpen = false
      for (const socket of sockets) socket.resume()
    },
  }
}
