/**
 * Connects a daemon to the clipboard of the desktop that it runs on, when there is one.
 *
 * @module
 */

import { createClipboardWriter } from '../desktop/clipboard-writer.ts'
import { ReceivedFolder } from '../desktop/received-folder.ts'
import { createCopySharing } from '../inbound/share-copies.ts'
import type { ClipboardEvents, ClipboardKind, SystemClipboard } from '../ports/system-clipboard.ts'
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
  close(): Promise<void>
}

export type DesktopSettings = Pick<Settings, 'headless' | 'clipboard' | 'receivedDir'>

/**
 * Shares what is copied from now on, and offers for pasting what devices push. Never fails: without
 * a clipboard the daemon goes on headless.
 *
 * @param onTrouble Told when the clipboard has a problem, and when it is well again.
 */
export async function openDesktop(
  clipboard: Clipboard,
  { headless, clipboard: choice, receivedDir }: DesktopSettings,
  onTrouble: (isTrouble: boolean) => void = () => {},
): Promise<Desktop> {
  if (headless) return without('headless')
  if (choice === 'none') return without('desktop')

  let trouble: string | undefined
  const { clock, logger } = clipboard
  const share = createCopySharing(clipboard)
  const events: ClipboardEvents = {
    onCopy: (copied) => void share(copied),
    onTrouble: (message) => {
      trouble = message
      onTrouble(message !== undefined)
      if (message === undefined) logger.info('The clipboard is well again')
      else logger.warn('The clipboard has a problem', { reason: message })
    },
  }
  let system: SystemClipboard
  try {
    system = await openSystemClipboard(choice, { events, clock, logger })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return without('headless', `${reason}; going on headless: nothing is read from or put on a clipboard`)
  }
  const received = new ReceivedFolder(receivedDir)
  clipboard.inbound.addEffect(createClipboardWriter({ clipboard: system, received }))
  return {
    mode: 'desktop',
    clipboard: system.kind,
    warning: undefined,
    trouble: () => trouble,
    close: () => system.close(),
  }
}

interface ClipboardDeps {
  readonly events: ClipboardEvents
  readonly clock: Clipboard['clock']
  readonly logger: Clipboard['logger']
}

async function openSystemClipboard(
  choice: ClipboardChoice | undefined,
  deps: ClipboardDeps,
): Promise<SystemClipboard> {
  const isX11 = choice === 'x11' || (choice === undefined && process.platform === 'linux')
  if (!isX11) throw new Error(`The clipboard of ${choice ?? process.platform} is not supported yet`)
  // A headless daemon never loads it.
  const { X11Clipboard } = await import('../desktop/x11/x11-clipboard.ts')
  // Whatever is there was copied while no daemon ran, or is known already and changes nothing.
  return X11Clipboard.open({ ...deps, readAtStart: true })
}

function without(mode: Desktop['mode'], warning?: string): Desktop {
  return { mode, clipboard: 'none', warning, trouble: () => undefined, close: async () => undefined }
}
