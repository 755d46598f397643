/** Tells listeners that something changed, and not what. @module */

/** A set of listeners. */
export class Subscribers {
  readonly #listeners = new Set<() => void>()

  /** Whether nobody listens, so that the work for a notification can be left out. */
  get isEmpty(): boolean {
    return this.#listeners.size === 0
  }

  /** Adds a listener. @returns A function that ends the subscription. */
  add(listener: () => void): () => void {
    // A wrapper of its own, so that one function may subscribe twice.
    const subscription = (): void => listener()
    this.#listeners.add(subscription)
    return () => void this.#listeners.delete(subscription)
  }

  /** Calls every listener. */
  notify(): void {
    for (const listener of this.#listeners) listener()
  }
}
