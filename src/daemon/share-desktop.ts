/** Connects a daemon to its desktop; never loaded where there is none. @module */

import { join } from 'node:path'
import { ClipboardPause, PAUSE_FILE } from '../desktop/clipboard-pause.ts'
import { ClipboardReconciler } from '../desktop/clipboard-reconciler.ts'
import type { CopyLimits } from '../desktop/read-copy.ts'
import { ReceivedFolder } from '../desktop/received-folder.ts'
import { createCopySharing } from '../inbound/share-copies.ts'
import { messageOf } from '../lib/describe-failure.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { Pause } from '../ports/admin.ts'
import type { Panel } from '../ports/panel.ts'
import type { ClipboardKind } from '../ports/system-clipboard.ts'
import { DiskPrivateFile } from '../storage/own-files.ts'
import type { Station } from './open-station.ts'
import { openSystemClipboard } from './open-system-clipboard.ts'
import type { Settings } from './settings.ts'

/** A desktop, or the lack of one. */
export interface Desktop {
  readonly mode: 'desktop' | 'headless'
  readonly clipboard: ClipboardKind | 'none'
  /** Why a daemon that was not told to be headless is. */
  readonly warning: string | undefined
  /** The trouble with the clipboard right now. */
  trouble(): string | undefined
  paused(): Pause | undefined
  /** As in the port `Panel`. */
  readonly pause: Panel['pause']
  /** As in the port `Panel`. */
  readonly resume: Panel['resume']
  /** Calls `listener` when trouble or a pause came or went. @returns Ends the subscription. */
  onChange(listener: () => void): () => void
  close(): Promise<void>
}

/**
 * @param kind `undefined` for the best one that there is.
 * @returns Why there is no clipboard, for people, where there is none.
 */
export async function shareDesktop(
  station: Station,
  settings: Settings,
  kind: ClipboardKind | undefined,
  onTrouble: (isTrouble: boolean) => void,
): Promise<Desktop | string> {
  let trouble: string | undefined
  const { clock, logger, directory } = station
  const file = new DiskPrivateFile(join(directory.path, PAUSE_FILE))
  const pause = await ClipboardPause.open({ file, clock, logger })
  const watchers = new Subscribers()
  pause.onChange(() => watchers.notify())
  const share = createCopySharing(station)
  const limits: CopyLimits = {
    types: settings.shareTypes,
    maxTextBytes: settings.maxCopiedTextBytes,
    maxImageBytes: settings.maxCopiedImageBytes,
    onLeftOut: (leftOut) =>
      logger.info('What was copied is of a kind that is not shared', { ...leftOut }),
  }
  // A copy made while no daemon ran is shared, or known already; one made during a pause is not.
  const readAtStart = !pause.wasOn
  let reconciler: ClipboardReconciler
  try {
    reconciler = await ClipboardReconciler.open(
      (events) => openSystemClipboard(kind, { events, clock, logger, limits, readAtStart }),
      {
        pause,
        limits,
        clock,
        logger,
        onCopy: (copied) => void share(copied),
        onTrouble: (message) => {
          trouble = message
          watchers.notify()
          onTrouble(message !== undefined)
          if (message === undefined) logger.info('The clipboard has recovered')
          else logger.warn('The clipboard has a problem', { reason: message })
        },
      },
    )
  } catch (error) {
    await pause.close()
    return messageOf(error)
  }
  const received = new ReceivedFolder(settings.receivedDir, station.storage.reserve)
  station.inbound.addEffect(async (stored, origin) => {
    if (origin.kind === 'clipboard') reconciler.dropWaiting()
    else await reconciler.offer(received.offerOf(stored))
  })
  return {
    mode: 'desktop',
    clipboard: await reconciler.kind(),
    warning: undefined,
    trouble: () => trouble,
    paused: () => pause.current,
    pause: (durationMs) => pause.begin(durationMs),
    resume: () => pause.end(),
    onChange: (listener) => watchers.add(listener),
    close: async () => {
      await pause.close()
      await reconciler.close()
    },
  }
}
