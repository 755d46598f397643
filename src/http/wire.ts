/**
 * The kernel's side of a live body.
 *
 * @module
 */

import type { ServerResponse } from 'node:http'
import type { Connection } from './connection.ts'
import type { Exchange } from './exchange.ts'
import type { Wire } from './reply.ts'

/** An object and no closures: it lives as long as its stream, and there may be thousands. */
export class LiveWire implements Wire {
  readonly #response: ServerResponse
  readonly #connection: Connection
  #forget: (() => void) | undefined = undefined

  constructor({ request, response, connection }: Exchange) {
    // Nobody reads the fields of the request any more, and the stream may live for days.
    request.rawHeaders.length = 0
    this.#response = response
    this.#connection = connection
    connection.isLive = true
  }

  write(chunk: Uint8Array, onWritten: () => void): void {
    this.#response.write(chunk, (error) => {
      if (!error) onWritten()
    })
  }

  end(): void {
    const response = this.#response
    const { socket } = this.#connection
    this.#forget?.()
    this.#connection.isLive = false
    response.end()
    // What a client reads was written in this tick. One that does not read would keep the
    // connection, and whoever waits for its end, for as long as it likes.
    setImmediate(() => {
      if (!response.writableFinished) socket.destroy()
    })
  }

  onGone(callback: () => void): void {
    this.#forget = this.#connection.onGone(callback)
  }
}
