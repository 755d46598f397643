/** Connects a daemon to the clipboard of the desktop that it runs on, when there is one. @module */

import { DomainError } from '../core/domain-error.ts'
import type { Station } from './open-station.ts'
import type { Settings } from './settings.ts'
import type { Desktop } from './share-desktop.ts'

/**
 * Shares what is copied from now on, and offers for pasting what devices push. A missing clipboard
 * is no failure: the daemon goes on headless.
 *
 * @param onTrouble Called when the clipboard has a problem, and when it has recovered.
 */
export async function openDesktop(
  station: Station,
  settings: Settings,
  onTrouble: (isTrouble: boolean) => void,
): Promise<Desktop> {
  const { headless, clipboard: choice } = settings
  if (headless) return without('headless')
  if (choice === 'none') return without('desktop')
  // A tenth of all code, which servers should not wait for.
  const { shareDesktop } = await import('./share-desktop.ts')
  const shared = await shareDesktop(station, settings, choice, onTrouble)
  if (typeof shared !== 'string') return shared
  return without(
    'headless',
    `${shared}; going on headless: nothing is read from or put on a clipboard`,
  )
}

function without(mode: Desktop['mode'], warning?: string): Desktop {
  const refuse = async (): Promise<never> => {
    throw new DomainError(
      'NO_CLIPBOARD',
      'Cannot pause or resume: this daemon has no system clipboard',
    )
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
