/**
 * Ends connections whose client has stopped reading an answer: what waits for it here would wait
 * for ever.
 *
 * One timer for all of them, and none while nobody is slow.
 * @module
 */

import type { Socket } from 'node:net'
import type { Clock } from '../lib/clock.ts'

/** A client that takes nothing for this long is cut off. */
const STALL_MS = 30_000

/** Looks at a client before it is cut off. */
const CHECKS = 6

interface Watched {
  /** Bytes that the client's side had taken at the last check. */
  taken: number
  idleChecks: number
}

/** Watches sockets whose client may have stopped reading. */
export class StallWatch {
  readonly #clock: Pick<Clock, 'after'>
  readonly #watched = new Map<Socket, Watched>()
  #isWaiting = false

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock
  }

  /** Watches a socket for as long as bytes wait in it. To be called after each write. */
  watch(socket: Socket): void {
    if (socket.writableLength === 0 || this.#watched.has(socket)) return
    this.#watched.set(socket, { taken: takenBytes(socket), idleChecks: 0 })
    if (!this.#isWaiting) this.#wait()
  }

  #wait(): void {
    this.#isWaiting = true
    this.#clock.after(STALL_MS / CHECKS, () => this.#check())
  }

  #check(): void {
    for (const [socket, watched] of this.#watched) {
      const taken = takenBytes(socket)
      watched.idleChecks = taken === watched.taken ? watched.idleChecks + 1 : 0
      watched.taken = taken
      if (watched.idleChecks >= CHECKS) socket.destroy()
      if (socket.destroyed || socket.writableLength === 0) this.#watched.delete(socket)
    }
    this.#isWaiting = false
    if (this.#watched.size > 0) this.#wait()
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
