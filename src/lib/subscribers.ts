/** Tells listeners that something changed, and not what. @module */

/**
 * Calls code of a host: what it throws is a warning of its process, and no failure of the work
 * under way.
 */
export function callHost<Value>(run: () => Value): Value | undefined {
  try {
    return run()
  } catch (error) {
    const isPlain = error instanceof Error || typeof error === 'string'
    // Not all that is thrown has a text.
    process.emitWarning(isPlain ? error : `a thrown ${typeof error}`)
    return undefined
  }
}

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

  /** Calls every listener, also when one throws. */
  notify(): void {
    for (const listener of this.#listeners) callHost(listener)
  }
}
