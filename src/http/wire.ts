/**
 * The kernel's side of a live body.
 *
 * @module
 */

import type { Exchange } from './exchange.ts'
import type { Wire } from './reply.ts'

export function createWire({ response, connection }: Exchange): Wire {
  let forget = (): void => {}
  connection.isLive = true
  return {
    write: (chunk, onWritten) => {
      response.write(chunk, (error) => {
        if (!error) onWritten()
      })
    },

    end: () => {
      forget()
      connection.isLive = false
      response.end()
      // What a client reads was written in this tick. One that does not read would keep the
      // connection, and whoever waits for its end, for as long as it likes.
      setImmediate(() => {
        if (!response.writableFinished) connection.socket.destroy()
      })
    },

    onGone: (callback) => {
      forget = connection.onGone(callback)
    },
  }
}
