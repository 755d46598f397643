/**
 * Ends connections whose client has stopped reading an answer: what waits for it here would wait
 * for ever.
 *
 * One timer for all of them, and none while nobody is slow.
 *
 * @module
 */

import type { Socket } from 'node:net'

/** Looks in so many times before it gives a client up. */
const CHECKS = 6

interface Watched {
  /** Bytes that the client's side had taken at the last check. */
  taken: number
  idleChecks: number
}

export class StallWatch {
  readonly #intervalMs: number
  readonly #watched = new Map<Socket, Watched>()
  #timer: NodeJS.Timeout | undefined = undefined

  /** @param stallMs A client that takes nothing for so long is cut off. */
  constructor(stallMs: number) {
    this.#intervalMs = stallMs / CHECKS
  }

  /** Watches a socket for as long as bytes wait in it. To be called after each write. */
  watch(socket: Socket): void {
    if (socket.writableLength === 0 || this.#watched.has(socket)) return
    this.#watched.set(socket, { taken: takenBytes(socket), idleChecks: 0 })
    this.#timer ??= setInterval(() => this.#check(), this.#intervalMs).unref()
  }

  #check(): void {
    for (const [socket, watched] of this.#watched) {
      const taken = takenBytes(socket)
      watched.idleChecks = taken === watched.taken ? watched.idleChecks + 1 : 0
      watched.taken = taken
      if (watched.idleChecks >= CHECKS) socket.destroy()
      if (socket.destroyed || socket.writableLength === 0) this.#watched.delete(socket)
    }
    if (this.#watched.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/**
 * `bytesWritten` counts a block when it is handed to the system as a whole, long before the last
 * byte of it has left. How much of it still waits only the handle knows: `net.Socket` itself asks
 * it in the same way to tell a slow client from a dead one.
 */
function takenBytes(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle')
  if (typeof handle !== 'object' || handle === null || !('writeQueueSize' in handle)) {
    return socket.bytesWritten
  }
  return socket.bytesWritten - Number(handle.writeQueueSize)
}
