/**
 * Connects a daemon to the clipboard of its desktop. A daemon without one never loads this.
 *
 * @module
 */

import { join } from 'node:path'
import { ClipboardGate } from '../desktop/clipboard-gate.ts'
import { createClipboardWriter } from '../desktop/clipboard-writer.ts'
import { PAUSE_FILE } from '../desktop/pause-file.ts'
import { openProtected } from '../desktop/open-protected.ts'
import type { CopyLimits } from '../desktop/read-copy.ts'
import { ReceivedFolder } from '../desktop/received-folder.ts'
import { createCopySharing } from '../inbound/share-copies.ts'
import { messageOf } from '../lib/describe-failure.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { ClipboardEvents, ClipboardKind, SystemClipboard } from '../ports/system-clipboard.ts'
import { DiskPrivateFile } from '../storage/disk-private-file.ts'
import type { Desktop, DesktopSettings } from './desktop.ts'
import type { Station } from './open-station.ts'
import { openSystemClipboard } from './open-system-clipboard.ts'

export interface SharingSettings extends DesktopSettings {
  /** `undefined` for the best one that there is. */
  readonly clipboard: ClipboardKind | undefined
}

/** @returns Why there is no clipboard, for people, where there is none. */
export async function shareDesktop(
  station: Station,
  settings: SharingSettings,
  onTrouble: (isTrouble: boolean) => void,
): Promise<Desktop | string> {
  let trouble: string | undefined
  const { clock, logger, directory } = station
  const file = new DiskPrivateFile(join(directory.path, PAUSE_FILE))
  const gate = await ClipboardGate.open({ file, clock, logger })
  const watchers = new Subscribers()
  gate.onChange(() => watchers.notify())
  const share = createCopySharing(station)
  const events: ClipboardEvents = {
    isWanted: () => gate.noteCopy(),
    onCopy: (copied) => {
      // It may have been asked for before the pause.
      if (gate.isOpen) void share(copied)
    },
    onTrouble: (message) => {
      trouble = message
      watchers.notify()
      onTrouble(message !== undefined)
      if (message === undefined) logger.info('The clipboard is well again')
      else logger.warn('The clipboard has a problem', { reason: message })
    },
  }
  const limits: CopyLimits = {
    types: settings.shareTypes,
    maxTextBytes: settings.maxCopiedTextBytes,
    maxImageBytes: settings.maxCopiedImageBytes,
    onLeftOut: (leftOut) =>
      logger.info('What was copied is of a kind that is not shared', { ...leftOut }),
  }
  let system: SystemClipboard
  try {
    // Whatever is there was copied while no daemon ran, or is known already and changes nothing.
    const readAtStart = !gate.wasPaused
    system = await openProtected(
      (guarded) =>
        openSystemClipboard(settings.clipboard, {
          events: guarded,
          clock,
          logger,
          limits,
          readAtStart,
        }),
      { events, clock, logger, limits },
    )
  } catch (error) {
    await gate.close()
    return messageOf(error)
  }
  const received = new ReceivedFolder(settings.receivedDir, station.storage.reserve)
  gate.connect(system)
  const write = createClipboardWriter({ clipboard: gate, received })
  station.inbound.addEffect((stored, origin) => {
    if (origin.kind !== 'clipboard') gate.notePush()
    return write(stored, origin)
  })
  return {
    mode: 'desktop',
    clipboard: system.kind,
    warning: undefined,
    trouble: () => trouble,
    paused: () => gate.pause,
    pause: (durationMs) => gate.begin(durationMs),
    resume: () => gate.end(),
    onChange: (listener) => watchers.add(listener),
    close: async () => {
      await gate.close()
      await system.close()
    },
  }
}
