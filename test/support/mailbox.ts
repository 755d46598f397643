/**
 * Keeps what an event told until the test asks for it, or has the test wait for the next one.
 * @module
 */

export class Mailbox<T> {
  readonly #waiters: ((value: T) => void)[] = []
  #values: T[] = []

  put(value: T): void {
    const waiter = this.#waiters.shift()
    if (waiter === undefined) this.#values.push(value)
    else waiter(value)
  }

  /** The oldest one that nobody has taken. */
  next(): Promise<T> {
    const [value, ...rest] = this.#values
    if (value === undefined) return new Promise((resolve) => this.#waiters.push(resolve))
    this.#values = rest
    return Promise.resolve(value)
  }

  /** How many wait to be taken. */
  get size(): number {
    return this.#values.length
  }
}
