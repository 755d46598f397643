/**
 * Listeners that want to hear that something changed, and not what.
 *
 * @module
 */

export class Subscribers {
  readonly #listeners = new Set<() => void>()

  /** Whether anybody listens: work for nobody is not worth doing. */
  get isEmpty(): boolean {
    return this.#listeners.size === 0
  }

  /** @returns Ends the subscription. */
  add(listener: () => void): () => void {
    // A wrapper of its own, so that one function may subscribe twice.
    const subscription = (): void => listener()
    this.#listeners.add(subscription)
    return () => void this.#listeners.delete(subscription)
  }

  notify(): void {
    for (const listener of this.#listeners) listener()
  }
}
