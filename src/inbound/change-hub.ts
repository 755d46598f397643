/** Tells everybody who wants to know that the current item changed. @module */

import { describeFailure } from '../lib/describe-failure.ts'
import type { Change, ChangeFeed } from '../ports/change-feed.ts'
import type { Logger } from '../ports/logger.ts'
import { Subscribers } from '../lib/subscribers.ts'

/** The one {@link ChangeFeed} of a daemon. */
export class ChangeHub implements ChangeFeed {
  readonly #logger: Pick<Logger, 'error'>
  readonly #listeners = new Set<(change: Change) => void>()
  readonly #members = new Subscribers()

  constructor(logger: Pick<Logger, 'error'>) {
    this.#logger = logger
  }

  subscribe(listener: (change: Change) => void): () => void {
    // A wrapper of its own, so that one function may subscribe twice.
    const subscription = (change: Change): void => listener(change)
    this.#listeners.add(subscription)
    return () => void this.#listeners.delete(subscription)
  }

  onStamp(listener: () => void): () => void {
    return this.#members.add(listener)
  }

  /** Tells members of a later stamp. */
  publishStamp(): void {
    this.#members.notify()
  }

  publish(change: Change): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(change)
      } catch (error) {
        // The item is current, whatever a listener makes of it; the others must hear too.
        this.#logger.error('Cannot tell that the item changed', { ...describeFailure(error) })
      }
    }
  }
}
