/**
 * The memory that the kernel has of a connection, from its first byte to its end: which answers are
 * owed on it and in which order, and who has logged in.
 *
 * Node parses all that one read of the socket has brought, which may be thousands of requests that
 * were sent without waiting for answers. Each is served in its turn, a few in each turn of the
 * event loop, and nothing more is read meanwhile.
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Chain, type Link } from '../lib/chain.ts'
import { GrowingBuffer } from '../lib/growing-buffer.ts'
import { normaliseAddress } from './client-address.ts'
import { isFull, isOpen, MAX_BEGUN, Pipeline, turns } from './pipeline.ts'

/** RFC 9110 section 9.2.1, and what WebDAV adds. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PROPFIND'])

/** The answer to a request of somebody who has logged in. */
interface OwnedAnswer {
  owner: string
  response: ServerResponse
}

/** Requests and pieces of bodies that one read may bring without keeping others waiting. */
const MAX_PIECES = 64

/** Shorter pieces of a body become one: each by itself takes 200 bytes more than is in it. */
const MIN_PIECE_BYTES = 1024

const NONE: readonly never[] = []

function tellGone(this: Socket): void {
  connectionOf(this).tellGone()
}

/** One connection of a client. */
export class Connection {
  readonly socket: Socket
  /** The socket that carries it: another one where it is encrypted. */
  transport: Socket
  /** Kept, because a closed socket has forgotten it. */
  remoteAddress: string | undefined
  /** We said that we would close: whatever is pipelined behind is not served. */
  isClosing = false
  /** Who has logged in on it last. */
  client: string | undefined
  /** Its last request asks for a WebSocket: it may be answered 101. */
  asksForWebSocket = false
  /** The answer under way has no end: nobody can wait for it. */
  isLive = false
  /**
   * Bytes that had come when the connection was refused, if it was: what comes behind is not
   * served, and what came before is.
   */
  refusedAt: number | undefined
  /** Requests so far. */
  requests = 0
  /** Lets the strangers of its server wait for their turns. */
  restStrangers: (() => void) | undefined
  /** The answer to the newest request; it ends after all others of this connection. */
  latest: ServerResponse | undefined
  /** Bytes that have come up to the newest read, and what it has brought so far. */
  #readAt = -1
  #inRead = 0
  /** One of its reads took long. */
  #isSlow = false
  /** Requests that came behind the end that we told. */
  #leftOut = 0
  /** The answer to the newest request that may change something. */
  #latestChange: ServerResponse | undefined
  #pipeline: Pipeline | undefined
  /** Requests that wait for us and not for their client: they are checked, or handled. */
  #inHand = 0
  /** Who logged in first, and whether somebody else has since. */
  #owner: string | undefined
  #isShared = false
  /** Answers that are owed or under way, oldest first; the next request drops the others. */
  #owned: OwnedAnswer[] | undefined
  #onGone: readonly (() => void)[] = NONE
  #knownTo: readonly Logins[] = NONE

  constructor(socket: Socket) {
    this.socket = socket
    this.transport = socket
    this.remoteAddress = normaliseAddress(socket.remoteAddress)
    // The one listener for all who want to know, and the same function for all sockets.
    socket.on('close', tellGone)
  }

  /** Somebody has logged in on it. */
  get isKnown(): boolean {
    return this.client !== undefined
  }

  /** Whether an answer is owed or under way. */
  get isBusy(): boolean {
    return isOpen(this.latest)
  }

  /** Whether nothing is read before its next turn. */
  get isResting(): boolean {
    return this.#pipeline?.isResting === true
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
  inTurn(response: ServerResponse, serve: () => void): void {
    const before = this.latest
    const isSafe = SAFE_METHODS.has(response.req.method ?? '')
    const awaited = isSafe ? this.#latestChange : before
    this.requests += 1
    this.latest = response
    if (!isSafe) this.#latestChange = response
    const place = this.#countInRead(response.req.rawHeaders)
    if (place > 1) this.restUntilTurn()
    if (!isOpen(before) && place <= MAX_BEGUN) serve()
    else this.#getPipeline().add(response, { before, awaited }, serve)
  }

  /** Reads nothing more before the others have had their turn. */
  restUntilTurn(): void {
    this.#getPipeline().restUntilTurn()
  }

  /** The same for one whose next read may take long: others of its client need not wait for it. */
  restApart(): void {
    this.#isSlow = true
    this.restUntilTurn()
  }

  /**
   * Joins the short pieces of a body, whether or not anything reads it yet: chunks may be of one
   * byte each. After a read that brings very many, others have their turn first.
   */
  joinPieces(request: IncomingMessage): void {
    const { push } = request
    const pipeline = this.#getPipeline()
    pipeline.body = request
    let short: GrowingBuffer | undefined
    const hand = (): void => {
      const bytes = short?.filled
      short = undefined
      if (bytes !== undefined) push.call(request, bytes)
    }
    request.push = (piece: Uint8Array | null, encoding?: BufferEncoding): boolean => {
      this.#countInRead(request.rawTrailers)
      if (piece === null) pipeline.body = undefined
      if (piece === null || piece.length >= MIN_PIECE_BYTES) {
        hand()
        return push.call(request, piece, encoding)
      }
      if (short === undefined) {
        short = new GrowingBuffer(MIN_PIECE_BYTES)
        setImmediate(hand)
      }
      short.append(piece)
      if (short.filled.length >= MIN_PIECE_BYTES) hand()
      return !isFull(request)
    }
  }

  /**
   * Notes a request that is not served. Node keeps each until the connection ends, which takes a
   * time that grows with the square of their number.
   */
  leaveOut(): void {
    this.#leftOut += 1
    if (this.#leftOut === MAX_PIECES) this.#getPipeline().restForGood()
  }

  #getPipeline(): Pipeline {
    this.#pipeline ??= new Pipeline(
      this.socket,
      // Those of one client whose reads take long keep each other waiting, and not its others.
      () => `${this.#isSlow} ${this.client || this.remoteAddress}`,
    )
    return this.#pipeline
  }

  /**
   * @param parts Names and values of fields that it brings: many count as pieces, too.
   * @returns 1 for the first request, or piece of a body, of a read of the socket.
   */
  #countInRead(parts: readonly string[]): number {
    const { bytesRead } = this.socket
    const before = bytesRead === this.#readAt ? this.#inRead : 0
    this.#inRead = before + 1 + (parts.length >> 6)
    this.#readAt = bytesRead
    // All else that has come would be parsed in this turn as well.
    if (before > 0 && !this.isKnown && turns.spend(1 + parts.length)) this.restStrangers?.()
    if (before < MAX_PIECES && this.#inRead >= MAX_PIECES) {
      turns.skip()
      this.restApart()
    }
    return before + 1
  }

  /** Whether `logins` did not know it before, and do from now on. */
  becomesKnownTo(logins: Logins): boolean {
    if (this.#knownTo.includes(logins)) return false
    this.#knownTo = [...this.#knownTo, logins]
    return true
  }

  /** Notes whose request it is that this answers. */
  noteOwner(owner: string, response: ServerResponse): void {
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
    this.#owner ??= owner
    if (this.#owner !== owner) this.#isShared = true
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
    if (own.length === 0 && (this.isBusy || this.#isShared || this.#owner !== owner)) {
      return undefined
    }
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
    this.#onGone = [...this.#onGone, callback]
    return () => {
      this.#onGone = this.#onGone.filter((watcher) => watcher !== callback)
    }
  }

  /** To be called once the socket is closed. */
  tellGone(): void {
    for (const watcher of this.#onGone) {
      // One that was called may have taken back the wish of another one.
      if (this.#onGone.includes(watcher)) watcher()
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
    if (response.socket === null) {
      // Behind the answers of others, it takes the connection with it when its turn comes. Nothing
      // of it may be written before: some versions of Node do that although it is destroyed.
      response.once('socket', () => this.socket.destroy())
      response.destroy()
      // It hears of that by itself only when it has the connection.
      response.emit('close')
    } else if (response.writableEnded) {
      // The end of an event stream, written in this tick, still gets out.
      setImmediate(() => this.socket.destroy())
    } else {
      response.destroy()
    }
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

interface LoginConnection extends Link<LoginConnection> {
  readonly connection: Connection
}

/**
 * The connections on which somebody has logged in, so that all that somebody does here can be ended
 * at once.
 */
export class Logins {
  /** Those of all owners: one is cut seldom, and connections come all the time. */
  readonly #connections = new Chain<LoginConnection>()

  /** Notes whose request this is. */
  note(owner: string, connection: Connection, response: ServerResponse): void {
    connection.noteOwner(owner, response)
    // One that has gone during the login never says so again.
    if (connection.socket.closed || !connection.becomesKnownTo(this)) return
    const link: LoginConnection = { connection, previous: undefined, next: undefined }
    this.#connections.add(link)
    connection.onGone(() => this.#connections.delete(link))
  }

  /**
   * Breaks off every answer that is owed to an owner, in this tick, and closes the connections that
   * are nobody else's.
   *
   * @returns Settles when they are closed.
   */
  async cut(owner: string): Promise<void> {
    await Promise.all([...this.#connections].map(({ connection }) => connection.cut(owner)))
  }
}
