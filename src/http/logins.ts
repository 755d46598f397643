/**
 * Who has logged in on which open connection, so that all that somebody does here can be ended at
 * once.
 * @module
 */

import type { Connection } from './connection.ts'
import type { Exchange } from './exchange.ts'

/** The connections on which somebody has logged in. */
export class Logins {
  /**
   * The connections of each owner, some of which may have closed. The references are weak: they
   * take no listener, and keep nothing of a connection that has closed.
   */
  readonly #connections = new Map<string, readonly WeakRef<Connection>[]>()

  /** Notes whose request this is. */
  note(owner: string, { connection, response }: Exchange): void {
    if (!connection.noteOwner(owner, response)) return
    const known = this.#open(owner)
    if (known.some((ref) => ref.deref() === connection)) return
    this.#connections.set(owner, [...known, new WeakRef(connection)])
  }

  /**
   * Breaks off every answer that is owed to an owner, in this tick, and closes the connections that
   * are nobody else's.
   *
   * @returns Settles when they are closed.
   */
  async cut(owner: string): Promise<void> {
    await Promise.all(this.#open(owner).map((ref) => ref.deref()?.cut(owner)))
  }

  #open(owner: string): readonly WeakRef<Connection>[] {
    const known = this.#connections.get(owner) ?? []
    return known.filter((ref) => ref.deref()?.socket.closed === false)
  }
}
