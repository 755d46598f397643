/**
 * Requests that were sent without waiting for answers: each begins in its turn, and all connections
 * take turns, so that whoever sends thousands of them keeps nobody waiting.
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
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

/** The connections that wait for a turn. */
class Turns {
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

/** Those of all connections: a process has one event loop. */
const turns = new Turns()

/** The requests of one connection that wait for their turn. */
export class Pipeline {
  readonly #socket: Socket
  /** Oldest first, which is also the order in which they begin. */
  #waiting: WaitingRequest[] = []
  /** Requests that came here and are not answered yet. */
  #owed = 0
  #newest: ServerResponse | undefined
  /** Whether nothing is read, and whether that lasts until what is owed is answered. */
  #isResting = false
  #isFull = false
  /** The request whose body nobody reads yet, although very many pieces of it have come. */
  #unread: IncomingMessage | undefined
  /** The client has nothing more to say, and Node was not told yet. */
  #hasEnded = false
  readonly #isLive: () => boolean

  /** @param isLive Whether the answer under way has no end. */
  constructor(socket: Socket, isLive: () => boolean) {
    this.#socket = socket
    this.#isLive = isLive
    socket.once('close', () => {
      turns.count -= this.#waiting.length
      this.#waiting = []
    })
    // Node resumes the socket for each request, and for a body when somebody reads it.
    const { resume } = socket
    socket.resume = () => {
      if (!this.#isResting || !hasReader(socket)) return resume.call(socket)
      this.#ask()
      return socket
    }
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
      this.tellEnd()
      this.#ask()
    })
    this.#waiting.push({ awaited, serve })
    turns.count += 1
    if (turns.count > MAX_WAITING) this.#socket.destroy()
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

  /** Reads nothing more before somebody reads the body of a request. */
  restUntilRead(request: IncomingMessage): void {
    this.#rest()
    if (this.#unread === request) return
    this.#unread = request
    request.once('resume', () => {
      this.#unread = undefined
      this.#ask()
    })
  }

  /**
   * Takes the end of what comes while it rests: Node ends the connection with it, whatever is owed.
   *
   * @returns Whether it did.
   */
  takeEnd(): boolean {
    this.#hasEnded = this.#isResting
    return this.#isResting
  }

  /** Tells Node of the end that was taken, once all that came before it is parsed and answered. */
  tellEnd(): void {
    if (!this.#hasEnded || this.#isResting || this.#socket.readableLength > 0) return
    if (this.#owed > 0 && !this.#isLive()) return
    this.#hasEnded = false
    this.#socket.push(null)
  }

  /** Does one thing that it can do, and says what. */
  goOn(): 'began' | 'reads' | 'waits' {
    const next = this.#next
    if (next !== undefined) {
      this.#waiting.shift()
      turns.count -= 1
      next.serve()
      return 'began'
    }
    if (!this.#mayRead) return 'waits'
    this.#isFull = false
    this.#isResting = false
    if (hasReader(this.#socket)) this.#socket.resume()
    this.tellEnd()
    return 'reads'
  }

  #ask(): void {
    if (this.#next !== undefined || this.#mayRead) turns.askForTurn(this)
  }

  /** The request that can be begun. */
  get #next(): WaitingRequest | undefined {
    const [next] = this.#waiting
    const begun = this.#owed - this.#waiting.length
    return next === undefined || isOpen(next.awaited) || begun >= MAX_BEGUN ? undefined : next
  }

  get #mayRead(): boolean {
    if (!this.#isResting || this.#socket.destroyed || this.#unread !== undefined) return false
    // Node's parser has to be left alone while its client does not take what it is answered.
    if (Reflect.get(this.#socket, '_paused') === true) return false
    // The last request may need what was not read yet for its body.
    const isDone = this.#owed === 0 || (this.#owed === 1 && this.#newest?.req.complete === false)
    return isDone || !this.#isFull
  }

  #rest(): void {
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
