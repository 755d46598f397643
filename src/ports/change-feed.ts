/** Port: tells that another item, or the same one again, became current. @module */

import type { ContentId } from '../core/content-id.ts'

/** An item became current. */
export interface Change {
  readonly contentId: ContentId
  /** Unix milliseconds. */
  readonly activatedAt: number
}

/** Tells of changes. */
export interface ChangeFeed {
  /** Calls `listener`, which does not throw, for every change. @returns Ends the subscription. */
  subscribe(listener: (change: Change) => void): () => void

  /**
   * Calls `listener`, which does not throw, whenever the current item gets a later stamp and stays
   * as it is, of which only members are told. @returns Ends the subscription.
   */
  onStamp(listener: () => void): () => void
}
