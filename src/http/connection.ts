/**
 * What the kernel remembers of a connection, from its first byte to its end.
 *
 * @module
 */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { normaliseAddress } from './client-address.ts'

/** One connection of a client. */
export class Connection {
  readonly socket: Socket
  /** Kept, because a closed socket has forgotten it. */
  readonly remoteAddress: string | undefined
  /** We said that we would close: whatever is pipelined behind is not served. */
  isClosing = false
  /** Somebody has logged in on it. */
  isKnown = false
  /** Bytes that had come when the connection was refused, if it was. */
  refusedAt: number | undefined = undefined
  /** Requests so far. */
  requests = 0
  /** The answer to the newest request; it ends after all others of this connection. */
  latest: ServerResponse | undefined = undefined
  #onGone: Set<() => void> | undefined = undefined

  constructor(socket: Socket) {
    this.socket = socket
    this.remoteAddress = normaliseAddress(socket.remoteAddress)
  }

  /** Whether an answer is owed or under way. */
  get isBusy(): boolean {
    const { latest } = this
    return latest !== undefined && !latest.writableFinished && !latest.destroyed
  }

  /**
   * Calls back once when the client is gone. Answers to pipelined requests never hear of that by
   * themselves: they have no socket until it is their turn.
   *
   * @returns Takes the wish back.
   */
  onGone(callback: () => void): () => void {
    this.#onGone ??= this.#listen()
    const watchers = this.#onGone.add(callback)
    return () => watchers.delete(callback)
  }

  /** Calls back once when the answer that is owed now has ended, in whatever way. */
  onIdle(callback: () => void): void {
    const { latest } = this
    const once = (): void => {
      forget()
      latest?.off('close', once)
      callback()
    }
    const forget = this.onGone(once)
    latest?.once('close', once)
  }

  #listen(): Set<() => void> {
    const watchers = new Set<() => void>()
    this.socket.once('close', () => {
      for (const callback of watchers) callback()
    })
    return watchers
  }
}

const connections = new WeakMap<Socket, Connection>()

/** The connection of a socket; the same one every time. */
export function connectionOf(socket: Socket): Connection {
  const known = connections.get(socket)
  if (known !== undefined) return known
  const connection = new Connection(socket)
  connections.set(socket, connection)
  return connection
}
