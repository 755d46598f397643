/**
 * Puts the bytes of a request on the wire: at once, or cut where a network might cut them.
 *
 * @module
 */

import { setImmediate } from 'node:timers/promises'
import type { RawClient } from '../../support/raw-http.ts'

export type Deliver = (client: RawClient, bytes: Buffer) => Promise<void>

export const deliverWhole: Deliver = async (client, bytes) => {
  client.socket.write(bytes)
}

/** @param points Where to cut, counted round and round when the bytes are fewer. */
export function deliverInPieces(points: readonly number[]): Deliver {
  return async (client, bytes) => {
    client.socket.setNoDelay()
    const wrapped = points.map((point) => point % Math.max(1, bytes.length))
    let from = 0
    for (const to of [...wrapped.sort((a, b) => a - b), bytes.length]) {
      client.socket.write(bytes.subarray(from, to))
      from = to
      // The server, in the same process, gets to read what there is.
      await setImmediate()
    }
  }
}
