/**
 * Finds out that a listening socket is not there any more.
 *
 * The system can abort one, as `ss -K` does. Nobody hears of it, no call fails, and libuv asks the
 * dead socket for connections as fast as it can. So a server connects to itself now and then, and
 * looks whether it is the one that is met.
 *
 * @module
 */

import { connect, type Socket } from 'node:net'
import { codeOf } from '../lib/system-error.ts'
import { afterWhatCame, type SilenceTimer } from './after-what-came.ts'

export interface ListenerProbeOptions {
  /** What the server is bound to. */
  readonly host: string
  readonly intervalMs: number
  readonly onLost: () => void
}

/** A part of the interval: connections are met in the next turn of the event loop. */
const PATIENCE = 0.1

/** A program without a descriptor to spare accepts a connection and drops it, unseen by us. */
const MISSES = 2

const LOOPBACK: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

export class ListenerProbe {
  readonly #options: ListenerProbeOptions
  #timer: NodeJS.Timeout | undefined = undefined
  #verdict: SilenceTimer | undefined = undefined
  #socket: Socket | undefined = undefined
  #isMet = false
  #misses = 0

  constructor(options: ListenerProbeOptions) {
    this.#options = options
  }

  /** Begins to look, until it finds that the socket is lost. */
  start(port: number): void {
    this.#timer = setInterval(() => this.#look(port), this.#options.intervalMs).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#forget()
  }

  /** Whether a connection that has come is the one of this probe. */
  meets({ remotePort, localAddress, remoteAddress }: Socket): boolean {
    const isOwn = remotePort !== undefined && remotePort === this.#socket?.localPort
    if (!isOwn || remoteAddress !== localAddress) return false
    this.#isMet = true
    this.#misses = 0
    // Not before it is met: of a connection that was reset nobody knows any more where it came from.
    // A reset leaves nothing behind that waits for late packets.
    this.#socket?.resetAndDestroy()
    return true
  }

  #look(port: number): void {
    this.#forget()
    const { host } = this.#options
    // From the address itself: while this machine does not have it, nothing is sent to others.
    const own = LOOPBACK.get(host) ?? host
    const socket = connect({ port, host: own, localAddress: own })
    this.#socket = socket.unref()
    socket.once('connect', () => {
      if (this.#isMet) return
      // Unless it is met here, somebody else has the port.
      this.#verdict = afterWhatCame(this.#options.intervalMs * PATIENCE, () => {
        if (this.#isMet) return
        this.#misses += 1
        if (this.#misses === MISSES) this.#lose()
      })
    })
    socket.once('error', (error) => {
      // What else goes wrong says nothing about the socket.
      if (socket === this.#socket && codeOf(error) === 'ECONNREFUSED') this.#lose()
    })
  }

  #forget(): void {
    this.#verdict?.cancel()
    this.#socket?.destroy()
    this.#socket = undefined
    this.#isMet = false
  }

  #lose(): void {
    this.stop()
    this.#misses = 0
    this.#options.onLost()
  }
}
