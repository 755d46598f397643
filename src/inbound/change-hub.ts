/** Tells everybody who wants to know that the current item changed. @module */

import { describeFailure } from '../lib/describe-failure.ts'
import type { Change, ChangeFeed } from '../ports/change-feed.ts'
import type { Logger } from '../ports/logger.ts'

interface Listener {
  readonly onChange: (change: Change) => void
  readonly onStamp: () => void
}

/** The one {@link ChangeFeed} of a daemon. */
export class ChangeHub implements ChangeFeed {
  readonly #logger: Pick<Logger, 'error'>
  readonly #listeners = new Set<Listener>()

  constructor(logger: Pick<Logger, 'error'>) {
    this.#logger = logger
  }

  subscribe(onChange: Listener['onChange'], onStamp: () => void = () => undefined): () => void {
    // An entry of its own, so that one function may subscribe twice.
    const listener = { onChange, onStamp }
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  publish(change: Change): void {
    this.#tell(({ onChange }) => onChange(change))
  }

  /** Tells members of a later stamp. */
  publishStamp(): void {
    this.#tell(({ onStamp }) => onStamp())
  }

  #tell(call: (listener: Listener) => void): void {
    for (const listener of [...this.#listeners]) {
      try {
        call(listener)
      } catch (error) {
        // The item is current, whatever a listener makes of it; the others must hear too.
        this.#logger.error('Cannot tell that the item changed', { ...describeFailure(error) })
      }
    }
  }
}
