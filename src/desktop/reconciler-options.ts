/** The surroundings of a clipboard reconciler. @module */

import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { CopiedContent, OfferedContent } from '../ports/system-clipboard.ts'
import type { SharingPause } from './clipboard-pause.ts'
import type { CopyLimits } from './read-copy.ts'

/** Its settings, and those whom it asks and tells. */
export interface ReconcilerOptions {
  readonly pause: SharingPause
  readonly limits: CopyLimits
  readonly clock: Clock
  /** The stamp of what happens now; the time of `clock` where nothing else is known. */
  readonly now?: () => number
  readonly logger: Logger
  /**
   * Returns what is current, when that is to be on the clipboard again: where nothing is found at
   * the start, or something older; nothing newer gives way to it.
   */
  readonly before?: () => Promise<OfferedContent | undefined>
  /** Whether the clipboard may have something older, or that in another form: after a crash. */
  readonly wasCutOff?: boolean
  /**
   * Gets what people copy, never an echo, and when that was seen. With `onJudged` it was found, and
   * may be older: where it is, that puts what `before` returns in its place, unless anything newer
   * has come since.
   */
  readonly onCopy: (copied: CopiedContent, at: number, onJudged: OnJudged | undefined) => void
  /** Gets the worst problem, for people, whenever that changes; `undefined` when all are over. */
  readonly onTrouble: (message: string | undefined) => void
}

/** Gets to know whether what was found is older than what is current. */
export type OnJudged = (isOlder: boolean) => void
