/**
 * How long a client may be silent: while its bytes are awaited, while it does not read an answer,
 * and while it goes on sending what nobody reads.
 * @module
 */

import type { Socket } from 'node:net'
import type { Clock } from '../lib/clock.ts'
import type { Call } from './call.ts'
import { connectionOf } from './connection.ts'

/** A timer that was set by {@link afterWhatCame}. */
export interface SilenceTimer {
  /** Begins the delay again, also when it is over. */
  refresh(): void
  /** Ends the timer: nothing is called any more. */
  cancel(): void
}

/**
 * Calls `run` after `delayMs` without a refresh. A machine that was asleep, or a program that was
 * stopped, finds its timers due before it has looked at what came meanwhile: this timer looks
 * first, and what has come may refresh it.
 */
export function afterWhatCame(
  clock: Pick<Clock, 'monotonic' | 'after'>,
  delayMs: number,
  run: () => void,
): SilenceTimer {
  let since = clock.monotonic()
  let late: NodeJS.Immediate | undefined
  let cancelTimer: (() => void) | undefined

  function wait(ms: number): void {
    cancelTimer = clock.after(ms, () => {
      // Behind the events of the sockets.
      late = setImmediate(look)
    })
  }

  function look(): void {
    cancelTimer = undefined
    const leftMs = since + delayMs - clock.monotonic()
    if (leftMs > 0) wait(leftMs)
    else run()
  }

  wait(delayMs)
  return {
    refresh: () => {
      since = clock.monotonic()
      if (cancelTimer === undefined) wait(delayMs)
    },
    cancel: () => {
      cancelTimer?.()
      clearImmediate(late)
    },
  }
}

/** A client that takes nothing for this long is cut off. */
const STALL_MS = 30_000

/** Looks at a client before it is cut off. */
const CHECKS = 6

interface Watched {
  /** Bytes that the client's side had taken at the last check. */
  taken: number
  idleChecks: number
  isWaiting: (() => boolean) | undefined
}

/**
 * Ends connections whose client has stopped reading an answer: what waits for it here would wait
 * for ever. One timer for all of them, and none while nobody is slow.
 */
export class StallWatch {
  readonly #clock: Pick<Clock, 'after'>
  readonly #watched = new Map<Socket, Watched>()
  #isWaiting = false

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock
  }

  /**
   * Watches a socket in which bytes wait, for as long as they do.
   *
   * @param isWaiting Whether some wait elsewhere, to get there.
   */
  watch(socket: Socket, isWaiting?: () => boolean): void {
    const watched = this.#watched.get(socket)
    if (watched !== undefined) {
      watched.isWaiting = isWaiting
      return
    }
    this.#watched.set(socket, { taken: takenBytes(socket), idleChecks: 0, isWaiting })
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
      const isEmpty = socket.writableLength === 0 && watched.isWaiting?.() !== true
      if (socket.destroyed || isEmpty) this.#watched.delete(socket)
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
function takenBytes(watched: Socket): number {
  // Encrypted, blocks wait in the socket underneath, where the outer one does not see them.
  const socket = connectionOf(watched).transport
  const handle: unknown = Reflect.get(socket, '_handle')
  if (typeof handle !== 'object' || handle === null || !('writeQueueSize' in handle)) {
    return socket.bytesWritten
  }
  return socket.bytesWritten - Number(handle.writeQueueSize)
}

/** How long, and how much, a client may go on sending what nobody wants: the photo of a phone. */
export const LINGER_MS = 5000
export const LINGER_BYTES: number = 16 * 1024 * 1024

/**
 * Throws away what comes of a request body, within bounds, then calls back once: hanging up on a
 * client that still sends resets the connection, and the reset may overtake the answer. A sender of
 * more than that is left waiting for the rest of the time: who cannot send on looks for an answer.
 */
export function drain(call: Pick<Call, 'request' | 'clock'>, done: () => void): void {
  const { request, clock } = call
  const { socket } = request
  // As they came: a chunk of one byte is six of them.
  const before = socket.bytesRead
  const stop = (): void => {
    cancelTimer()
    request.off('data', count).off('end', stop).off('close', stop)
    done()
  }
  const count = (): void => {
    if (socket.bytesRead - before > LINGER_BYTES) request.pause()
  }
  const cancelTimer = clock.after(LINGER_MS, stop)
  request.on('data', count).once('end', stop).once('close', stop).resume()
  if (request.destroyed) stop()
}

/**
 * Has a connection that is to end after its answer wait a while for the client to end it as well:
 * closed with bytes that nobody has read, it would be reset.
 */
export function linger({ request: { socket }, clock }: Pick<Call, 'request' | 'clock'>): void {
  socket.destroySoon = (): void => {
    socket.end()
    socket
      .once(
        'close',
        clock.after(LINGER_MS, () => socket.destroy()),
      )
      .resume()
  }
}
