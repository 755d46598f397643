/**
 * Connects a daemon to the clipboard of the desktop that it runs on, when there is one.
 *
 * @module
 */

import { join } from 'node:path'
import { DomainError } from '../core/domain-error.ts'
import { ClipboardGate } from '../desktop/clipboard-gate.ts'
import { createClipboardWriter } from '../desktop/clipboard-writer.ts'
import { PAUSE_FILE } from '../desktop/pause-file.ts'
import { openProtected } from '../desktop/open-protected.ts'
import type { CopyLimits } from '../desktop/read-copy.ts'
import { ReceivedFolder } from '../desktop/received-folder.ts'
import { createCopySharing } from '../inbound/share-copies.ts'
import { messageOf } from '../lib/message-of.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { Panel } from '../ports/panel.ts'
import type { Pause } from '../ports/admin.ts'
import type { ClipboardEvents, ClipboardKind, SystemClipboard } from '../ports/system-clipboard.ts'
import { DiskPrivateFile } from '../storage/disk-private-file.ts'
import type { Clipboard } from './open-clipboard.ts'
import { openSystemClipboard } from './open-system-clipboard.ts'
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

/**
 * Shares what is copied from now on, and offers for pasting what devices push. Never fails: without
 * a clipboard the daemon goes on headless.
 *
 * @param onTrouble Told when the clipboard has a problem, and when it is well again.
 */
export async function openDesktop(
  clipboard: Clipboard,
  settings: DesktopSettings,
  onTrouble: (isTrouble: boolean) => void = () => {},
): Promise<Desktop> {
  const { headless, clipboard: choice, receivedDir } = settings
  if (headless) return without('headless')
  if (choice === 'none') return without('desktop')

  let trouble: string | undefined
  const { clock, logger, directory } = clipboard
  const file = new DiskPrivateFile(join(directory.path, PAUSE_FILE))
  const gate = await ClipboardGate.open({ file, clock, logger })
  const watchers = new Subscribers()
  gate.onChange(() => watchers.notify())
  const share = createCopySharing(clipboard)
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
    onLeftOut: (leftOut) => logger.info('What was copied is of a kind that is not shared', { ...leftOut }),
  }
  let system: SystemClipboard
  try {
    // Whatever is there was copied while no daemon ran, or is known already and changes nothing.
    const readAtStart = !gate.wasPaused
    system = await openProtected(
      (guarded) => openSystemClipboard(choice, { events: guarded, clock, logger, limits, readAtStart }),
      { events, clock, logger, limits },
    )
  } catch (error) {
    await gate.close()
    const reason = messageOf(error)
    return without('headless', `${reason}; going on headless: nothing is read from or put on a clipboard`)
  }
  const received = new ReceivedFolder(receivedDir)
  gate.connect(system)
  const write = createClipboardWriter({ clipboard: gate, received })
  clipboard.inbound.addEffect((stored, origin) => {
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

function without(mode: Desktop['mode'], warning?: string): Desktop {
  const refuse = async (): Promise<never> => {
    throw new DomainError('NO_CLIPBOARD', 'Cannot pause or resume: this daemon has no system clipboard')
  }
  return {
    mode,
    clipboard: 'none',
    warning,
    trouble: () => undefined,
    paused: () => undefined,
    pause: refuse,
    resume: refuse,
    onChange: () => () => undefined,
    close: async () => undefined,
  }
}
