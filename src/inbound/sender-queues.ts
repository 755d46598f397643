/** The queues of those who send: in its own, the items of each keep their order. @module */

import { KeyedQueues, type OwnTurn, Turns } from '../lib/semaphore.ts'

/** A queue for each sender, whose work can be broken off. */
export class SenderQueues {
  readonly #queues = new KeyedQueues()
  /** Breaks off the item that a sender has under way. */
  readonly #turns = new Map<string, Turns>()
  #closed: Error | undefined

  /** Runs `work` when the work of `sender` asked for before has ended. @throws As {@link close}. */
  run<T>(sender: string, work: (turn: OwnTurn) => Promise<T>): Promise<T> {
    return this.#queues.run(sender, async () => {
      if (this.#closed !== undefined) throw this.#closed
      const turns = new Turns()
      const turn = turns.take()
      this.#turns.set(sender, turns)
      try {
        return await work(turn)
      } finally {
        this.#turns.delete(sender)
        turn.release()
      }
    })
  }

  /** Breaks off what `sender` has under way. Resolves when all that it asked for has ended. */
  interrupt(sender: string, reason: Error): Promise<void> {
    void this.#turns.get(sender)?.interrupt(reason)
    return this.#queues.idle(sender)
  }

  /** Breaks off all, and refuses the rest with `reason`. Resolves when nothing is under way. */
  async close(reason: Error): Promise<void> {
    this.#closed = reason
    const senders = [...this.#turns.keys()]
    await Promise.all(senders.map((sender) => this.interrupt(sender, reason)))
  }
}
