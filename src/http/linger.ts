/**
 * Ending a connection so that the client gets to read why: hanging up on one that still sends
 * resets the connection, and the reset may overtake the answer.
 * @module
 */

import type { IncomingMessage } from 'node:http'
import type { Clock } from '../lib/clock.ts'

/** How long, and how much, a client may go on sending what nobody wants. */
export const LINGER_MS = 2000
export const LINGER_BYTES: number = 1024 * 1024

/**
 * Throws away what comes of a request body, within bounds, then calls back once. A sender of more
 * than that is left waiting for the rest of the time: who cannot send on looks for an answer.
 */
export function drain(
  request: IncomingMessage,
  clock: Pick<Clock, 'after'>,
  done: () => void,
): void {
  let left = LINGER_BYTES
  const stop = (): void => {
    cancelTimer()
    request.off('data', count).off('end', stop).off('close', stop)
    done()
  }
  const count = (chunk: Uint8Array): void => {
    left -= chunk.length
    if (left < 0) request.pause()
  }
  const cancelTimer = clock.after(LINGER_MS, stop)
  request.on('data', count).once('end', stop).once('close', stop).resume()
  if (request.destroyed) stop()
}
