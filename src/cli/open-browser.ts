/** Opens a local page in the person's browser. @module */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Surroundings } from '../daemon/folders.ts'

interface Opener {
  readonly program: string
  readonly args: readonly string[]
}

/** Whether there is a screen that the person sits at. */
export function hasDesktop({ platform, environment }: Surroundings): boolean {
  if (isRemote({ environment })) return false
  if (platform === 'darwin' || platform === 'win32') return true
  return [environment['DISPLAY'], environment['WAYLAND_DISPLAY']].some(
    (name) => (name ?? '') !== '',
  )
}

/** Whether the person sits at another machine. */
export function isRemote({ environment }: Pick<Surroundings, 'environment'>): boolean {
  return (environment['SSH_CONNECTION'] ?? '') !== ''
}

/**
 * Starts whatever opens files here, without a shell, and leaves it alone.
 *
 * @returns Whether it could be started; nobody knows what comes of it.
 */
export async function openBrowser(
  path: string,
  { platform, environment }: Surroundings,
): Promise<boolean> {
  const { program, args } = openerOf(path, platform)
  const opener = spawn(program, args, {
    stdio: 'ignore',
    detached: true,
    env: environment,
    windowsHide: true,
  })
  try {
    await once(opener, 'spawn')
  } catch {
    // An `error` event: there is no such program.
    return false
  }
  opener.unref()
  return true
}

function openerOf(path: string, platform: NodeJS.Platform): Opener {
  if (platform === 'darwin') return { program: 'open', args: [path] }
  if (platform === 'win32') {
    // `start` is a word of cmd.exe, which would take some characters of a path for its own.
    return { program: 'rundll32.exe', args: ['url.dll,FileProtocolHandler', path] }
  }
  return { program: 'xdg-open', args: [path] }
}
