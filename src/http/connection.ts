/**
 * What the kernel remembers of a connection, from its first byte to its end.
 *
 * @module
 */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { normaliseAddress } from './client-address.ts'

/** RFC 9110 section 9.2.1, and what WebDAV adds. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PROPFIND'])

/**
 * Answers that may be owed behind another one. Clients wait for each; whoever does not, behind an
 * answer that takes time, fills the memory with requests, and with files for them.
 */
const MAX_PIPELINED = 16

/** One connection of a client. */
export class Connection {
  readonly socket: Socket
  /** Kept, because a closed socket has forgotten it. */
  readonly remoteAddress: string | undefined
  /** We said that we would close: whatever is pipelined behind is not served. */
  isClosing = false
  /** Somebody has logged in on it. */
  isKnown = false
  /** The answer under way has no end: nobody can wait for it. */
  isLive = false
  /**
   * Bytes that had come when the connection was refused, if it was: what comes behind is not
   * served, and what came before is.
   */
  refusedAt: number | undefined = undefined
  /** Requests so far. */
  requests = 0
  /** The answer to the newest request; it ends after all others of this connection. */
  latest: ServerResponse | undefined = undefined
  /** The answer to the newest request that may change something. */
  #latestChange: ServerResponse | undefined = undefined
  #pipelined = 0
  #onGone: Set<() => void> | undefined = undefined

  constructor(socket: Socket) {
    this.socket = socket
    this.remoteAddress = normaliseAddress(socket.remoteAddress)
  }

  /** Whether an answer is owed or under way. */
  get isBusy(): boolean {
    return isOpen(this.latest)
  }

  /**
   * Takes a request in, and calls `serve` when it is its turn: RFC 9112 section 9.3.2 lets
   * pipelined requests overtake each other only while none of them changes anything. The
   * connection ends when there are too many of them.
   */
  inTurn(response: ServerResponse, serve: () => void): void {
    if (this.isBusy && !this.#takePipelined(response)) return
    const isSafe = SAFE_METHODS.has(response.req.method ?? '')
    const awaited = isSafe ? this.#latestChange : this.latest
    this.requests += 1
    this.latest = response
    if (!isSafe) this.#latestChange = response
    if (isOpen(awaited)) this.onEnd(awaited, serve)
    else serve()
  }

  /** Answers that were given are only memory. */
  forgetAnswers(): void {
    this.latest = undefined
    this.#latestChange = undefined
  }

  /**
   * Calls back once when the client is gone. Answers to pipelined requests never hear of that by
   * themselves: they have no socket until it is their turn.
   *
   * @returns Takes the wish back.
   */
  onGone(callback: () => void): () => void {
    this.#onGone ??= this.#listen()
    const watchers = this.#onGone.add(callback)
    return () => watchers.delete(callback)
  }

  /** Calls back once when the answers that are owed now have ended, in whatever way. */
  onIdle(callback: () => void): void {
    if (this.latest !== undefined) this.onEnd(this.latest, callback)
  }

  /** Calls back once when an answer has ended, in whatever way. */
  onEnd(response: ServerResponse, callback: () => void): void {
    const once = (): void => {
      forget()
      response.off('close', once)
      callback()
    }
    const forget = this.onGone(once)
    response.once('close', once)
  }

  /** @returns Whether there was room for one more. */
  #takePipelined(response: ServerResponse): boolean {
    if (this.#pipelined === MAX_PIPELINED) {
      this.isClosing = true
      this.socket.destroy()
      return false
    }
    this.#pipelined += 1
    response.once('close', () => (this.#pipelined -= 1))
    return true
  }

  #listen(): Set<() => void> {
    const watchers = new Set<() => void>()
    this.socket.once('close', () => {
      for (const callback of watchers) callback()
    })
    return watchers
  }
}

function isOpen(response: ServerResponse | undefined): response is ServerResponse {
  return response !== undefined && !response.writableFinished && !response.destroyed
}

const CONNECTION: unique symbol = Symbol('connection')

/** The connection of a socket; the same one every time. */
export function connectionOf(socket: Socket & { [CONNECTION]?: Connection }): Connection {
  // Each request asks: a map of all sockets would take several times as long.
  return (socket[CONNECTION] ??= new Connection(socket))
}
