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
import { ReceivedFolder } from '../desktop/received-folder.ts'
import { createCopySharing } from '../inbound/share-copies.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { Panel } from '../ports/panel.ts'
import type { Pause } from '../ports/admin.ts'
import type { ClipboardEvents, ClipboardKind, SystemClipboard } from '../ports/system-clipboard.ts'
import { DiskPrivateFile } from '../storage/disk-private-file.ts'
import type { Clipboard } from './open-clipboard.ts'
import type { ClipboardChoice, Settings } from './settings.ts'

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

export type DesktopSettings = Pick<Settings, 'headless' | 'clipboard' | 'receivedDir'>

/**
 * Shares what is copied from now on, and offers for pasting what devices push. Never fails: without
 * a clipboard the daemon goes on headless.
 */
export async function openDesktop(
  clipboard: Clipboard,
  { headless, clipboard: choice, receivedDir }: DesktopSettings,
): Promise<Desktop> {
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
      if (message === undefined) logger.info('The clipboard is well again')
      else logger.warn('The clipboard has a problem', { reason: message })
    },
  }
  let system: SystemClipboard
  try {
    // Whatever is there was copied while no daemon ran, or is known already and changes nothing.
    const readAtStart = !gate.wasPaused
    system = await openSystemClipboard(choice, { events, clock, logger, readAtStart })
  } catch (error) {
    await gate.close()
    const reason = error instanceof Error ? error.message : String(error)
    return without('headless', `${reason}; going on headless: nothing is read from or put on a clipboard`)
  }
  const received = new ReceivedFolder(receivedDir)
  gate.connect(system)
  const write = createClipboardWriter({ clipboard: gate, received })
  clipboard.inbound.addEffect((stored, origin) => {
    if (origin.kind === 'device') gate.notePush()
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

interface ClipboardDeps {
  readonly events: ClipboardEvents
  readonly clock: Clipboard['clock']
  readonly logger: Clipboard['logger']
  readonly readAtStart: boolean
}

async function openSystemClipboard(
  choice: ClipboardChoice | undefined,
  deps: ClipboardDeps,
): Promise<SystemClipboard> {
  const isX11 = choice === 'x11' || (choice === undefined && process.platform === 'linux')
  if (!isX11) throw new Error(`The clipboard of ${choice ?? process.platform} is not supported yet`)
  // A headless daemon never loads it.
  const { X11Clipboard } = await import('../desktop/x11/x11-clipboard.ts')
  return X11Clipboard.open(deps)
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
