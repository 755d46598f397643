/** Tells everybody who wants to know that the current item changed. @module */

import type { Change, ChangeFeed } from '../ports/change-feed.ts'

/** The one {@link ChangeFeed} of a daemon. */
export class ChangeHub implements ChangeFeed {
  readonly #listeners = new Set<(change: Change) => void>()

  subscribe(listener: (change: Change) => void): () => void {
    // A wrapper of its own, so that one function may subscribe twice.
    const subscription = (change: Change): void => listener(change)
    this.#listeners.add(subscription)
    return () => void this.#listeners.delete(subscription)
  }

  publish(change: Change): void {
    for (const listener of [...this.#listeners]) listener(change)
  }
}
