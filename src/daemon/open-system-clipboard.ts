/** Opens the clipboard of the desktop that this program runs on. @module */

import { UnusableYet } from '../desktop/clipboard-errors.ts'
import type { AdapterOptions } from '../desktop/read-copy.ts'
import { MAY_HIDE, mayHideFromX11 } from '../desktop/wayland/data-control.ts'
import { messageOf } from '../lib/describe-failure.ts'
import type { ClipboardKind, SystemClipboard } from '../ports/system-clipboard.ts'
import { ownSurroundings, type Surroundings } from './folders.ts'

export const NO_DESKTOP = 'There is no desktop: neither WAYLAND_DISPLAY nor DISPLAY is set'

export const NOTHING_SHARED = 'nothing is read from or put on a clipboard'

type DesktopFacts = Pick<Surroundings, 'platform' | 'environment'>

/**
 * The clipboards that a desktop may have, best first. Programs of a Wayland desktop reach its
 * clipboard through XWayland as well, where Wayland itself gives no access to it.
 */
export function findClipboards({ platform, environment }: DesktopFacts): readonly ClipboardKind[] {
  if (platform === 'darwin') return ['macos']
  if (platform === 'win32') return ['windows']
  const isSet = (name: string): boolean => (environment[name] ?? '') !== ''
  return [
    ...(isSet('WAYLAND_DISPLAY') ? (['wayland'] as const) : []),
    ...(isSet('DISPLAY') ? (['x11'] as const) : []),
  ]
}

/**
 * Opens the clipboard that was chosen, else the best one that can be opened. A desktop that gives
 * access to its own has no other one: what XWayland shows of it may be stale.
 *
 * @throws {Error} When none can. The message is for people, and says what is missing.
 */
export async function openSystemClipboard(
  choice: ClipboardKind | undefined,
  options: AdapterOptions,
  facts: DesktopFacts = ownSurroundings(),
): Promise<SystemClipboard> {
  const kinds = choice === undefined ? findClipboards(facts) : [choice]
  const reasons: string[] = []
  for (const kind of kinds) {
    try {
      const clipboard = await openKind(kind, options, facts.environment)
      if (reasons.length > 0) {
        options.logger.warn(`Using the clipboard of ${kind}`, { reason: reasons.join('; ') })
      }
      return clipboard
    } catch (error) {
      reasons.push(messageOf(error))
      if (error instanceof UnusableYet) break
    }
  }
  if (kinds.length === 0) reasons.push(NO_DESKTOP)
  throw new Error(reasons.join('; '))
}

/** A headless daemon never loads any of them. */
async function openKind(kind: ClipboardKind, options: AdapterOptions, env: NodeJS.ProcessEnv) {
  switch (kind) {
    case 'x11': {
      const { X11Clipboard } = await import('../desktop/x11/x11-clipboard.ts')
      if (await mayHideFromX11(env, options)) {
        options.logger.warn('Using the clipboard of x11', { reason: MAY_HIDE })
      }
      return X11Clipboard.open({ ...options, display: env['DISPLAY'] })
    }
    case 'wayland': {
      const { WaylandClipboard } = await import('../desktop/wayland/wayland-clipboard.ts')
      return WaylandClipboard.open({ ...options, env })
    }
    case 'macos': {
      const { openMacosClipboard } = await import('../desktop/macos/macos-clipboard.ts')
      return openMacosClipboard({ ...options, env })
    }
    case 'windows': {
      const { openWindowsClipboard } = await import('../desktop/windows/windows-clipboard.ts')
      return openWindowsClipboard({ ...options, env })
    }
  }
}
