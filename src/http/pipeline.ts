/**
 * Requests that were sent without waiting for answers: each begins in its turn, and all connections
 * of a listener take turns, so that whoever sends thousands of them keeps nobody waiting.
 * @module
 */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

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

/** The requests that wait on all connections of a listener: they take turns. */
export class WaitingRequests {
  count = 0
  /** Those with something to do, the one whose turn is next first. */
  readonly #ready = new Set<Pipeline>()
  #next: NodeJS.Immediate | undefined

  /** Gives a connection a turn in which it can go on. */
  askForTurn(pipeline: Pipeline): void {
    this.#ready.add(pipeline)
    this.#next ??= setImmediate(() => this.#takeTurn())
  }

  #takeTurn(): void {
    this.#next = undefined
    let left = MAX_PER_TURN
    for (const pipeline of this.#ready) {
      this.#ready.delete(pipeline)
      const done = pipeline.goOn()
      // Added again, it comes behind all others.
      if (done === 'began') this.#ready.add(pipeline)
      // All that a read brings is parsed in one go.
      left = done === 'reads' ? 0 : left - 1
      if (left <= 0) break
    }
    const [first] = this.#ready
    if (first !== undefined) this.askForTurn(first)
  }
}

/** The requests of one connection that wait for their turn. */
export class Pipeline {
  readonly #socket: Socket
  readonly #total: WaitingRequests
  /** Oldest first, which is also the order in which they begin. */
  #waiting: WaitingRequest[] = []
  /** Requests that came here and are not answered yet. */
  #owed = 0
  #newest: ServerResponse | undefined
  /** Whether nothing is read, and whether that lasts until what is owed is answered. */
  #isResting = false
  #isFull = false

  constructor(socket: Socket, total: WaitingRequests) {
    this.#socket = socket
    this.#total = total
    socket.once('close', () => {
      total.count -= this.#waiting.length
      this.#waiting = []
    })
    // The parser resumes the socket after each request, and a body when somebody reads it.
    socket.on('resume', () => {
      if (this.#isResting && hasReader(socket)) socket.pause()
    })
  }

  /**
   * Takes a request in, and calls `serve` when its turn has come. Ends the connection when too many
   * requests of all clients wait.
   *
   * @param response The answer to it.
   */
  add(response: ServerResponse, { before, awaited }: Place, serve: () => void): void {
    if (this.#owed === 0 && isOpen(before)) before.once('close', () => this.#ask())
    this.#owed += 1
    this.#newest = response
    response.once('close', () => {
      this.#owed -= 1
      this.#ask()
    })
    this.#waiting.push({ awaited, serve })
    this.#total.count += 1
    if (this.#total.count > MAX_WAITING) this.#socket.destroy()
    if (this.#owed === MAX_BEGUN) {
      this.#isFull = true
      this.#rest()
    }
    this.#ask()
  }

  /** Reads nothing more before its next turn. */
  restUntilTurn(): void {
    this.#rest()
    this.#ask()
  }

  /** Does one thing that it can do, and says what. */
  goOn(): 'began' | 'reads' | 'waits' {
    const next = this.#next
    if (next !== undefined) {
      this.#waiting.shift()
      this.#total.count -= 1
      next.serve()
      return 'began'
    }
    if (!this.#mayRead) return 'waits'
    this.#isFull = false
    this.#isResting = false
    if (hasReader(this.#socket)) this.#socket.resume()
    return 'reads'
  }

  #ask(): void {
    if (this.#next !== undefined || this.#mayRead) this.#total.askForTurn(this)
  }

  /** The request that can be begun. */
  get #next(): WaitingRequest | undefined {
    const [next] = this.#waiting
    const begun = this.#owed - this.#waiting.length
    return next === undefined || isOpen(next.awaited) || begun >= MAX_BEGUN ? undefined : next
  }

  get #mayRead(): boolean {
    if (!this.#isResting || this.#socket.destroyed) return false
    // The last request may need what was not read yet for its body.
    const isDone = this.#owed === 0 || (this.#owed === 1 && this.#newest?.req.complete === false)
    return isDone || !this.#isFull
  }

  #rest(): void {
    if (this.#isResting) return
    this.#isResting = true
    this.#socket.pause()
  }
}

/** Whether what comes has a reader: Node lets go of a socket whose client asks to change over. */
function hasReader(socket: Socket): boolean {
  return socket.readableFlowing !== null
}

/** Whether an answer is owed or under way. */
export function isOpen(response: ServerResponse | undefined): response is ServerResponse {
  return response !== undefined && !response.writableFinished && !response.destroyed
}
