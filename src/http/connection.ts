/**
 * The memory that the kernel has of a connection, from its first byte to its end: which answers are
 * owed on it and in which order, and who has logged in.
 *
 * Node parses all that one read of the socket has brought, which may be thousands of requests that
 * were sent without waiting for answers. Each is served in its turn, and nothing more is read
 * meanwhile.
 * @module
 */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Chain, type Link } from '../lib/chain.ts'
import { normaliseAddress } from './client-address.ts'

/** RFC 9110 section 9.2.1, and what WebDAV adds. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PROPFIND'])

/** The answer to a request of somebody who has logged in. */
interface OwnedAnswer {
  owner: string
  response: ServerResponse
}

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
  readonly remoteAddress: string | undefined
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
  /** The memory that the authentication has of a login on it. */
  login: unknown = undefined
  /** The answer to the newest request; it ends after all others of this connection. */
  latest: ServerResponse | undefined
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

/**
 * Requests behind an unanswered one that may be worked on, or may have an answer that waits. Each
 * can hold an open file and a block of it, while one that is not begun holds its header only. As
 * many let the connection rest: nothing more is read until they are answered.
 */
const MAX_BEGUN = 16

/** Requests of all clients that wait to be begun. One takes 2 KiB, and one read brings 3,600. */
const MAX_WAITING = 20_000

/** The answers that a request waits for. */
interface Place {
  /** The answer to the request before it, which has not ended. */
  readonly before: ServerResponse
  /** The answer that has to end before it begins, if any has. */
  readonly awaited: ServerResponse | undefined
}

interface WaitingRequest {
  readonly awaited: ServerResponse | undefined
  readonly serve: () => void
}

/** Counts the requests that wait on all connections of a listener. */
export class WaitingRequests {
  count = 0
}

/** The requests of one connection that wait for their turn. */
class Pipeline {
  readonly #socket: Socket
  readonly #total: WaitingRequests
  /** Oldest first, which is also the order in which they begin. */
  #waiting: WaitingRequest[] = []
  /** Requests that came behind an unanswered one and are not answered yet. */
  #owed = 0
  #newest: ServerResponse | undefined
  #isResting = false

  constructor(socket: Socket, total: WaitingRequests) {
    this.#socket = socket
    this.#total = total
    socket.once('close', () => {
      total.count -= this.#waiting.length
      this.#waiting = []
    })
    // The parser resumes the socket after each request, and a body when somebody reads it.
    socket.on('resume', () => {
      if (this.#isResting) socket.pause()
    })
  }

  /**
   * Takes a request in, and calls `serve` when its turn has come. Ends the connection when too many
   * requests of all clients wait.
   *
   * @param response The answer to it.
   */
  add(response: ServerResponse, { before, awaited }: Place, serve: () => void): void {
    if (this.#owed === 0) before.once('close', () => this.#goOn())
    this.#owed += 1
    this.#newest = response
    response.once('close', () => {
      this.#owed -= 1
      this.#goOn()
    })
    this.#waiting.push({ awaited, serve })
    this.#total.count += 1
    if (this.#total.count > MAX_WAITING) this.#socket.destroy()
    if (this.#owed === MAX_BEGUN) this.#rest()
    this.#goOn()
  }

  #goOn(): void {
    let [next] = this.#waiting
    while (next !== undefined && !isOpen(next.awaited) && this.#begun < MAX_BEGUN) {
      this.#waiting.shift()
      this.#total.count -= 1
      next.serve()
      next = this.#waiting[0]
    }
    if (this.#isResting && this.#isDone) this.#readOn()
  }

  get #begun(): number {
    return this.#owed - this.#waiting.length
  }

  /** The last request may need what was not read yet for its body. */
  get #isDone(): boolean {
    return this.#owed === 0 || (this.#owed === 1 && this.#newest?.req.complete === false)
  }

  #rest(): void {
    this.#isResting = true
    this.#socket.pause()
  }

  #readOn(): void {
    this.#isResting = false
    this.#socket.resume()
  }
}

/** Whether an answer is owed or under way. */
function isOpen(response: ServerResponse | undefined): response is ServerResponse {
  return response !== undefined && !response.writableFinished && !response.destroyed
}
