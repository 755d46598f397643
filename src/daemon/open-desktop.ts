/** Connects a daemon to the clipboard of the desktop that it runs on, when there is one. @module */

import { homedir } from 'node:os'
import { DomainError } from '../core/domain-error.ts'
import type { ReceivedPlace } from '../gateway/gateway-ports.ts'
import { FileSaves } from '../inbound/file-saves.ts'
import type { Station } from '../station/open-station.ts'
import { nameFolder, ownSurroundings } from './folders.ts'
import { findClipboards, NO_DESKTOP, NOTHING_SHARED } from './open-system-clipboard.ts'
import type { Settings } from './settings.ts'
import type { Desktop } from './share-desktop.ts'

/**
 * Shares what is copied from now on, and offers for pasting what devices push. Where there is no
 * desktop at all the daemon goes on headless; where its clipboard cannot be used yet, it stays what
 * it was asked to be, and tries again.
 *
 * @param onTrouble Called when the clipboard has a problem, and when it has recovered.
 */
export async function openDesktop(
  station: Station,
  settings: Settings,
  onTrouble: (isTrouble: boolean) => void,
): Promise<Desktop> {
  const { headless, clipboard: choice } = settings
  if (headless) return without(station, settings, 'headless')
  if (choice === 'none') return without(station, settings, 'desktop')
  if (choice === undefined && findClipboards(ownSurroundings()).length === 0) {
    onTrouble(true)
    return without(
      station,
      settings,
      'headless',
      `${NO_DESKTOP}; going on headless: ${NOTHING_SHARED}`,
    )
  }
  // A tenth of all code, which servers should not wait for.
  const { shareDesktop } = await import('./share-desktop.ts')
  return shareDesktop(station, settings, choice, onTrouble)
}

/** Where pushed files land. */
export function placeOf(desktop: Desktop): ReceivedPlace | undefined {
  const { receivedDir } = desktop
  if (receivedDir === undefined) return undefined
  const isShared = desktop.paused() === undefined && desktop.trouble() === undefined
  return { folder: nameFolder(receivedDir, homedir()), isShared }
}

function without(
  station: Station,
  { minFreeBytes }: Settings,
  mode: Desktop['mode'],
  warning?: string,
): Desktop {
  // Files that a desktop did not save before stay for the next one, for as long as there is room.
  const alone = (work: () => Promise<void>) => station.inbound.alone(work)
  station.storage.yieldFirst(new FileSaves({ ...station, minFreeBytes, alone }))
  const refuse = async (): Promise<never> => {
    throw new DomainError(
      'NO_CLIPBOARD',
      'Cannot pause or resume: this daemon has no system clipboard',
    )
  }
  return {
    mode,
    receivedDir: undefined,
    clipboard: () => 'none',
    opened: async () => warning,
    trouble: () => undefined,
    unsaved: () => undefined,
    paused: () => undefined,
    pause: refuse,
    resume: refuse,
    onChange: () => () => undefined,
    endSaving: async () => 0,
    close: async () => undefined,
  }
}
