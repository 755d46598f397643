/**
 * The requests that one client has sent without waiting for the answers before them.
 *
 * Node parses all that one read of the socket has brought, which may be thousands of requests.
 * Each of them is served in its turn, and nothing more is read meanwhile.
 * @module
 */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Requests behind an unanswered one that may be worked on, or may have an answer that waits. Each
 * can hold an open file and a block of it, while one that is not begun holds its header only. As
 * many let the connection rest: nothing more is read until they are answered.
 */
const MAX_BEGUN = 16

/** Requests of all clients that wait to be begun. One takes 2 KiB, and one read brings 3,600. */
const MAX_WAITING = 20_000

/** The answers that a request waits for. */
export interface Place {
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
export class Pipeline {
  readonly #socket: Socket
  readonly #total: WaitingRequests
  /** Oldest first, which is also the order in which they begin. */
  #waiting: WaitingRequest[] = []
  /** Requests that came behind an unanswered one and are not answered yet. */
  #owed = 0
  #newest: ServerResponse | undefined = undefined
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
export function isOpen(response: ServerResponse | undefined): response is ServerResponse {
  return response !== undefined && !response.writableFinished && !response.destroyed
}
