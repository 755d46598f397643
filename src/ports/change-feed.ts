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
  /**
   * Calls `onChange` for every change, and `onStamp` whenever the current item gets a later stamp
   * and stays as it is, of which only members are told. Neither throws.
   *
   * @returns Ends the subscription.
   */
  subscribe(onChange: (change: Change) => void, onStamp?: () => void): () => void
}
