/**
 * Requests that were sent without waiting for answers, and reads that take long to parse: each has
 * its turn, and all clients take turns, so that whoever sends thousands keeps nobody waiting.
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { FairQueue } from '../lib/fair-queue.ts'
import { Shares } from '../lib/shares.ts'

/**
 * Requests behind an unanswered one that may be worked on, or may have an answer that waits. Each
 * can hold an open file and a block of it, while one that is not begun holds its header only. As
 * many let the connection rest: nothing more is read until they are answered.
 */
export const MAX_BEGUN = 16

/** Requests of all clients that wait to be begun. One takes 2 KiB, and one read brings 3,600. */
const MAX_WAITING = 20_000

/** Requests that waited and are begun in one turn of the event loop, on all connections. */
const MAX_PER_TURN = 32

/** The answers that a request waits for. */
interface Place {
  /** The answer to the request before it. */
  readonly before: ServerResponse | undefined
  /** The answer that has to end before it begins, if any has. */
  readonly awaited: ServerResponse | undefined
}

interface WaitingRequest {
  readonly awaited: ServerResponse | undefined
  readonly serve: () => void
}

/**
 * Turns of the event loop without one behind a read that took long: the system hands over one new
 * connection in each.
 */
const TURNS_OFF = 64

/** Pieces, and parts of fields, that strangers may bring in a turn: as many as in one read. */
const MAX_SPENT = 11_000

/** The connections that wait for a turn: a process has one event loop. */
class ConnectionTurns {
  /** Requests that wait on them. */
  count = 0
  /** Those on which some do. */
  readonly waiting: Set<Pipeline> = new Set()
  readonly ready: FairQueue<Pipeline> = new FairQueue(Infinity)
  #next: NodeJS.Immediate | undefined
  #off = 0
  #spent = 0

  /** Whether a new connection has to wait for its turn, since its first read may take long. */
  get isBusy(): boolean {
    return this.#next !== undefined
  }

  /** Gives a connection a turn in which it can go on. */
  ask(pipeline: Pipeline): void {
    this.ready.add(pipeline, pipeline.laneOf())
    this.#schedule()
  }

  /** To be called when what one read has brought takes long. */
  skip(): void {
    this.#off = TURNS_OFF
    this.#schedule()
  }

  /** Notes what a stranger has brought. @returns Whether the others are to wait for their turns. */
  spend(pieces: number): boolean {
    this.#spent += pieces
    if (this.#spent <= MAX_SPENT) return false
    this.#spent = 0
    return true
  }

  /** Ends the newest connection of whoever has most requests that wait. */
  giveWay(): void {
    const shares = new Shares()
    for (const pipeline of this.waiting) shares.add(pipeline.laneOf(), pipeline.size)
    const lane = shares.largestFirst()[0]?.[0]
    const newest = [...this.waiting].findLast((pipeline) => pipeline.laneOf() === lane)
    newest?.destroy()
  }

  #schedule(): void {
    this.#next ??= setImmediate(() => this.#take())
  }

  #take(): void {
    this.#next = undefined
    this.#spent = 0
    let left = MAX_PER_TURN
    if (this.#off > 0) {
      this.#off -= 1
      left = 0
    }
    while (left > 0) {
      // All that a read brings is parsed in one go.
      left = this.ready.take()?.goOn() === false ? left - 1 : 0
    }
    if (this.ready.size + this.#off > 0) this.#schedule()
  }
}

export const turns: ConnectionTurns = new ConnectionTurns()

/** The requests of one connection that wait for their turn. */
export class Pipeline {
  /** With whom it shares its turns. */
  readonly laneOf: () => string
  readonly #socket: Socket
  /** Oldest first, which is also the order in which they begin. */
  #waiting: WaitingRequest[] = []
  /** Requests that came here and are not answered yet. */
  #owed = 0
  /** The request whose body has not come whole. */
  body: IncomingMessage | undefined
  /** Whether nothing is read. */
  isResting = false
  /** Whether that lasts until what is owed is answered. */
  #isFull = false
  /** Nothing that comes is wanted any more. */
  #isOver = false
  #isAsking = false

  constructor(socket: Socket, laneOf: () => string) {
    this.laneOf = laneOf
    this.#socket = socket
    let { stackTraceLimit } = Error
    // Between these two, Node makes an error for each request that the connection has brought, and
    // formats its stack, which nobody reads.
    socket.prependOnceListener('close', () => {
      stackTraceLimit = Error.stackTraceLimit
      Error.stackTraceLimit = 0
    })
    socket.once('close', () => {
      Error.stackTraceLimit = stackTraceLimit
      this.destroy()
    })
    // The parser resumes the socket after each request, and a body when somebody reads it.
    socket.on('resume', () => {
      if (this.isResting && hasReader(socket)) socket.pause()
      // Node begins to read whatever was said since it was to go on, and hears no second `pause`.
      if (socket.readableFlowing === false) socket.emit('pause')
    })
  }

  /** Requests that wait on it. */
  get size(): number {
    return this.#waiting.length
  }

  /**
   * Takes a request in, and calls `serve` when its turn has come. When too many requests of all
   * clients wait, whoever has most of them loses a connection.
   *
   * @param response The answer to it.
   */
  add(response: ServerResponse, { before, awaited }: Place, serve: () => void): void {
    // Ended by a request before this one, which the same read has brought.
    if (this.#socket.destroyed) return
    if (this.#owed === 0 && isOpen(before)) before.once('close', () => this.#ask())
    this.#owed += 1
    response.once('close', () => {
      this.#owed -= 1
      this.#ask()
    })
    this.#waiting.push({ awaited, serve })
    turns.waiting.add(this)
    turns.count += 1
    if (turns.count > MAX_WAITING) turns.giveWay()
    if (this.#owed === MAX_BEGUN) {
      this.#isFull = true
      this.#rest()
    }
    this.#ask()
  }

  /** Ends the connection, if it has not ended, and forgets what waits on it. */
  destroy(): void {
    this.#socket.destroy()
    turns.count -= this.size
    this.#waiting = []
    turns.waiting.delete(this)
    // It would stand there, with all that it had brought, until it is its turn.
    turns.ready.delete(this)
  }

  /** Reads nothing more before its next turn. */
  restUntilTurn(): void {
    this.#rest()
    this.#ask()
  }

  /** Reads nothing more. */
  restForGood(): void {
    this.#isOver = true
    this.#rest()
  }

  /** Does one thing that it can do. @returns Whether that is to read on. */
  goOn(): boolean {
    this.#isAsking = false
    const next = this.#next
    if (next !== undefined) {
      this.#waiting.shift()
      turns.count -= 1
      if (this.size === 0) turns.waiting.delete(this)
      next.serve()
      this.#ask()
      return false
    }
    if (!this.#mayRead) return false
    this.#isFull = false
    this.isResting = false
    // Whoever reads a body that is full has Node go on.
    if (hasReader(this.#socket) && !isFull(this.body)) this.#socket.resume()
    return true
  }

  #ask(): void {
    if (this.#isAsking || (this.#next === undefined && !this.#mayRead)) return
    this.#isAsking = true
    turns.ask(this)
  }

  /** The request that can be begun. */
  get #next(): WaitingRequest | undefined {
    const [next] = this.#waiting
    const begun = this.#owed - this.#waiting.length
    return next === undefined || isOpen(next.awaited) || begun >= MAX_BEGUN ? undefined : next
  }

  get #mayRead(): boolean {
    if (!this.isResting || this.#isOver || this.#socket.destroyed) return false
    // The last request may need what was not read yet for its body.
    const isDone = this.#owed === 0 || (this.#owed === 1 && this.body !== undefined)
    return isDone || !this.#isFull
  }

  #rest(): void {
    if (this.isResting) return
    this.isResting = true
    this.#socket.pause()
  }
}

/** Whether what comes has a reader: Node lets go of a socket whose client asks to change over. */
function hasReader(socket: Socket): boolean {
  return socket.readableFlowing !== null
}

/** Whether as much of a body waits for its reader as may. */
export function isFull(body: IncomingMessage | undefined): boolean {
  const { readableLength = 0, readableHighWaterMark = 0 } = body ?? {}
  return readableLength > 0 && readableLength >= readableHighWaterMark
}

/** Whether an answer is owed or under way. */
export function isOpen(response: ServerResponse | undefined): response is ServerResponse {
  return response !== undefined && !response.writableFinished && !response.destroyed
}
