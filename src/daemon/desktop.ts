/**
 * What a daemon knows of the desktop that it runs on.
 *
 * @module
 */

import type { Pause } from '../ports/admin.ts'
import type { Panel } from '../ports/panel.ts'
import type { ClipboardKind } from '../ports/system-clipboard.ts'
import type { Settings } from './settings.ts'

/** A desktop, or the lack of one. */
export interface Desktop {
  readonly mode: 'desktop' | 'headless'
  readonly clipboard: ClipboardKind | 'none'
  /** Why a daemon that was not told to be headless is. */
  readonly warning: string | undefined
  /** What is wrong with the clipboard right now. */
  trouble(): string | undefined
  paused(): Pause | undefined
  /** As those of the port `Panel`. */
  readonly pause: Panel['pause']
  readonly resume: Panel['resume']
  /** Calls `listener` when trouble or a pause came or went. @returns Ends the subscription. */
  onChange(listener: () => void): () => void
  close(): Promise<void>
}

export type DesktopSettings = Pick<
  Settings,
  | 'headless'
  | 'clipboard'
  | 'receivedDir'
  | 'shareTypes'
  | 'maxCopiedTextBytes'
  | 'maxCopiedImageBytes'
>
