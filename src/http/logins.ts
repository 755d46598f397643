/**
 * Who has logged in on which open connection, so that all that somebody does here can be ended at
 * once.
 *
 * @module
 */

import type { Connection } from './connection.ts'
import type { Exchange } from './exchange.ts'

export class Logins {
  readonly #connections = new Map<string, Set<Connection>>()

  /** Notes whose request this is. */
  note(owner: string, { connection, response }: Exchange): void {
    // One that is closed would never be forgotten; nobody hears the answer.
    if (!connection.noteOwner(owner, response) || connection.socket.closed) return
    const known = this.#connections.get(owner)
    if (known?.has(connection) === true) return
    if (known === undefined) this.#connections.set(owner, new Set([connection]))
    else known.add(connection)
    connection.onGone(() => this.#forget(owner, connection))
  }

  /**
   * Breaks off every answer that is owed to an owner, in this tick, and closes the connections that
   * are nobody else's.
   *
   * @returns Settles when they are closed.
   */
  async cut(owner: string): Promise<void> {
    const connections = [...(this.#connections.get(owner) ?? [])]
    await Promise.all(connections.map((connection) => connection.cut(owner)))
  }

  #forget(owner: string, connection: Connection): void {
    const known = this.#connections.get(owner)
    known?.delete(connection)
    if (known?.size === 0) this.#connections.delete(owner)
  }
}
