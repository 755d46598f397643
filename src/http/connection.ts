/** The memory that the kernel has of a connection, from its first byte to its end. @module */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { normaliseAddress } from './client-address.ts'
import { isOpen, Pipeline, type WaitingRequests } from './pipeline.ts'

/** RFC 9110 section 9.2.1, and what WebDAV adds. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PROPFIND'])

/** The answer to a request of somebody who has logged in. */
interface OwnedAnswer {
  owner: string
  response: ServerResponse
}

/** One connection of a client. */
export class Connection {
  readonly socket: Socket
  /** Kept, because a closed socket has forgotten it. */
  readonly remoteAddress: string | undefined
  /** We said that we would close: whatever is pipelined behind is not served. */
  isClosing = false
  /** Who has logged in on it last. */
  client: string | undefined = undefined
  /** Its last request asks for a WebSocket: it may be answered 101. */
  asksForWebSocket = false
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
  #pipeline: Pipeline | undefined = undefined
  /** Requests that wait for us and not for their client: they are checked, or handled. */
  #inHand = 0
  /** Who logged in first, and whether somebody else has since. */
  #owner: string | undefined = undefined
  #isShared = false
  /** Answers that are owed or under way, oldest first; the next request drops the others. */
  #owned: OwnedAnswer[] | undefined = undefined
  #onGone: (() => void)[] | undefined = undefined

  constructor(socket: Socket) {
    this.socket = socket
    this.remoteAddress = normaliseAddress(socket.remoteAddress)
  }

  /** Somebody has logged in on it. */
  get isKnown(): boolean {
    return this.client !== undefined
  }

  /** Whether an answer is owed or under way. */
  get isBusy(): boolean {
    return isOpen(this.latest)
  }

  /**
   * Whether nobody has logged in on it, and nothing here is at work for it: all that it can still
   * be owed is an answer that its client may never read.
   */
  get isExpendable(): boolean {
    return !this.isKnown && this.#inHand === 0
  }

  /** Notes for as long as `work` takes that a request of this connection is in our hands. */
  async takeInHand<Value>(work: Promise<Value>): Promise<Value> {
    this.#inHand += 1
    try {
      return await work
    } finally {
      this.#inHand -= 1
    }
  }

  /**
   * Takes a request in, and calls `serve` when it is its turn: RFC 9112 section 9.3.2 lets
   * pipelined requests overtake each other only while none of them changes anything.
   */
  inTurn(response: ServerResponse, waiting: WaitingRequests, serve: () => void): void {
    const before = this.latest
    const isSafe = SAFE_METHODS.has(response.req.method ?? '')
    const awaited = isSafe ? this.#latestChange : before
    this.requests += 1
    this.latest = response
    if (!isSafe) this.#latestChange = response
    if (!isOpen(before)) {
      serve()
      return
    }
    this.#pipeline ??= new Pipeline(this.socket, waiting)
    this.#pipeline.add(response, { before, awaited }, serve)
  }

  /**
   * Notes whose request it is that this answers.
   *
   * @returns Whether the owner had not logged in on this connection before, as far as is known.
   */
  noteOwner(owner: string, response: ServerResponse): boolean {
    const newest = this.#owned?.at(-1)
    if (this.#owned === undefined || newest === undefined) {
      // An array that is pushed to takes room for seventeen.
      this.#owned = [{ owner, response }]
    } else if (isOpen(newest.response)) {
      this.#owned.push({ owner, response })
    } else {
      // Answers end in their order, so all of these have. Each request comes here: no new object.
      newest.owner = owner
      newest.response = response
      if (this.#owned.length > 1) this.#owned.splice(0, this.#owned.length - 1)
    }
    if (this.#owner === owner) return false
    this.#isShared = this.#owner !== undefined
    this.#owner ??= owner
    return true
  }

  /**
   * Breaks off what is owed to an owner, and closes the connection, unless it is that of others too
   * and nothing is owed to this one.
   *
   * @returns What to wait for: from then on nothing of the owner is under way here.
   */
  cut(owner: string): Promise<void> | undefined {
    const owned = this.#owned ?? []
    const own = owned.filter((answer) => answer.owner === owner && isOpen(answer.response))
    // The answer under way is for somebody else, who may not be known yet.
    if (own.length === 0 && (this.isBusy || this.#isShared)) return undefined
    this.isClosing = true
    const isQueued = own.length > 0 && own.every(({ response }) => response.socket === null)
    const closed = isQueued ? undefined : this.#closed()
    if (own.length === 0) this.socket.destroy()
    for (const { response } of own) this.breakOff(response)
    // Answers to others that stand before those are still owed.
    this.latest = owned.findLast(({ response }) => isOpen(response))?.response ?? this.latest
    return closed
  }

  /** Answers that were given are only memory. */
  forgetAnswers(): void {
    this.latest = undefined
    this.#owned = undefined
    this.#latestChange = undefined
  }

  /**
   * Calls back once when the client is gone. Answers to pipelined requests never hear of that by
   * themselves: they have no socket until it is their turn.
   *
   * @returns Takes the wish back.
   */
  onGone(callback: () => void): () => void {
    // A set takes 200 bytes more, for each event stream.
    if (this.#onGone === undefined) {
      this.#onGone = [callback]
      this.socket.once('close', () => this.#tellGone())
    } else {
      this.#onGone = [...this.#onGone, callback]
    }
    return () => {
      this.#onGone = this.#onGone?.filter((watcher) => watcher !== callback)
    }
  }

  #tellGone(): void {
    for (const watcher of this.#onGone ?? []) {
      // One that was called may have taken back the wish of another one.
      if (this.#onGone?.includes(watcher) === true) watcher()
    }
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

  /** Breaks an answer off, and closes the connection. */
  breakOff(response: ServerResponse): void {
    if (response.writableEnded && response.socket !== null) {
      // The end of an event stream, written in this tick, still gets out.
      setImmediate(() => this.socket.destroy())
      return
    }
    if (response.socket === null) {
      // Behind the answers of others, it takes the connection with it when its turn comes. Nothing
      // of it may be written before: some versions of Node do that although it is destroyed.
      response.once('socket', () => this.socket.destroy())
      response.destroy()
      // It hears of that by itself only when it has the connection.
      response.emit('close')
      return
    }
    response.destroy()
  }

  async #closed(): Promise<void> {
    if (!this.socket.closed) await new Promise((resolve) => this.socket.once('close', resolve))
  }
}

const CONNECTION: unique symbol = Symbol('connection')

/** The connection of a socket; the same one every time. */
export function connectionOf(socket: Socket & { [CONNECTION]?: Connection }): Connection {
  // Each request asks: a map of all sockets would take several times as long.
  socket[CONNECTION] ??= new Connection(socket)
  return socket[CONNECTION]
}
