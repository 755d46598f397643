/** Opens a file or a folder with the program of the desktop for it. @module */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** The machine on which something is opened. */
export interface OpeningSystem {
  readonly platform: NodeJS.Platform
  readonly environment: Readonly<Record<string, string | undefined>>
}

const OWN: OpeningSystem = { platform: process.platform, environment: process.env }

/** Starts whatever opens `path` here, without a shell. @returns Whether that could be started. */
export async function openPath(path: string, system: OpeningSystem = OWN): Promise<boolean> {
  const opener = await startOpener(path, system)
  opener?.unref()
  return opener !== undefined
}

/** The same. @returns What runs then; `undefined` when it could not be started. */
export async function startOpener(
  path: string,
  { platform, environment }: OpeningSystem,
): Promise<ChildProcess | undefined> {
  const [program, ...args] = openerOf(path, platform)
  const options = { detached: true, env: environment, windowsHide: true }
  const opener = spawn(program, args, { stdio: 'ignore', ...options })
  try {
    await once(opener, 'spawn')
  } catch {
    // An `error` event: there is no such program.
    return undefined
  }
  return opener
}

function openerOf(path: string, platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open', path]
  if (platform === 'win32') {
    // `start` is a word of cmd.exe, which would take some characters of a path for its own.
    return ['rundll32.exe', 'url.dll,FileProtocolHandler', path]
  }
  return ['xdg-open', path]
}
