/** Opens a file or a folder with the program of the desktop for it. @module */

import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The machine on which something is opened. */
export interface OpeningSystem {
  readonly platform: NodeJS.Platform
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Far more than a desktop takes to name a program. */
const ASKING_MS = 5000

/** The name of an entry in the menu: of a snap, its own and that of a program in it. */
const DESKTOP_ENTRY = /^((?:([a-z\d-]+)_)?\w[\w.-]*)\.desktop$/

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

/**
 * Finds where the program that opens files of a type reads, although it is in a sandbox: a snap has
 * none of the hidden folders below `home`, and a Flatpak has its own folder and little else.
 *
 * @returns A private folder of that program; `undefined` where it is in none, or is not known.
 */
export async function findSandbox(
  type: string,
  { platform, environment, home }: OpeningSystem & { readonly home: string },
): Promise<string | undefined> {
  if (platform === 'darwin' || platform === 'win32') return undefined
  const args = ['query', 'default', type]
  // As a shell script it may wait for a program of the desktop, and keep a gentler signal waiting.
  const options = { env: environment, timeout: ASKING_MS, killSignal: 'SIGKILL' } as const
  // Where the desktop cannot be asked, all is as without a sandbox.
  const asked = promisify(execFile)('xdg-mime', args, options).catch(() => ({ stdout: '' }))
  const [, entry, snap] = DESKTOP_ENTRY.exec((await asked).stdout.trim()) ?? []
  if (entry === undefined) return undefined
  const path = join(home, snap === undefined ? `.var/app/${entry}` : `snap/${snap}/common`)
  // It is there once the program has run. One without a sandbox has none.
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() ? path : undefined
}

function openerOf(path: string, platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open', path]
  if (platform === 'win32') {
    // `start` is a word of cmd.exe, which would take some characters of a path for its own.
    return ['rundll32.exe', 'url.dll,FileProtocolHandler', path]
  }
  return ['xdg-open', path]
}
