/** Where each platform wants settings, state and received files to live. @module */

import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, isAbsolute, join, relative, sep } from 'node:path'
import { movedDownloads } from './moved-downloads.ts'

/** The properties of a machine and a user that decide where folders are. */
export interface Surroundings {
  readonly platform: NodeJS.Platform
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly home: string
}

/** The surroundings of this process. */
export function ownSurroundings(): Surroundings {
  return { platform: process.platform, environment: process.env, home: homedir() }
}

/** Folder of the config file and of the saved server. */
export function configFolder(where: Surroundings): string {
  const { platform, home } = where
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'clipgate')
  if (platform === 'win32') {
    return join(pathFrom(where, 'APPDATA') ?? join(home, 'AppData', 'Roaming'), 'clipgate')
  }
  return join(pathFrom(where, 'XDG_CONFIG_HOME') ?? join(home, '.config'), 'clipgate')
}

/** Folder of everything the daemon keeps. */
export function stateFolder(where: Surroundings): string {
  const { platform, home } = where
  // Apart from the config file: this folder is copied, locked and swept as a whole.
  if (platform === 'darwin') {
    return join(home, 'Library', 'Application Support', 'clipgate', 'data')
  }
  if (platform === 'win32') {
    return join(pathFrom(where, 'LOCALAPPDATA') ?? join(home, 'AppData', 'Local'), 'clipgate')
  }
  return join(pathFrom(where, 'XDG_STATE_HOME') ?? join(home, '.local', 'state'), 'clipgate')
}

/** Folder of pushed files, in the user's downloads. */
export function downloadFolder(where: Surroundings): string {
  const { platform, home, environment } = where
  const own =
    platform === 'linux'
      ? xdgDownloads(where)
      : platform === 'win32'
        ? movedDownloads(environment)
        : undefined
  return join(own ?? join(home, 'Downloads'), 'clipgate')
}

/** `Downloads/clipgate`: a folder for who sees the machine, without the name of its user. */
export function nameFolder(folder: string, home: string): string {
  const path = relative(home, folder)
  const isInHome = path !== '' && !isAbsolute(path) && path.split(sep, 1)[0] !== '..'
  return isInHome ? path.split(sep).join('/') : basename(folder)
}

/** Linux desktops translate the names of the user's folders, and say so in a file. */
function xdgDownloads(where: Surroundings): string | undefined {
  const folder = pathFrom(where, 'XDG_CONFIG_HOME') ?? join(where.home, '.config')
  let text: string
  try {
    text = readFileSync(join(folder, 'user-dirs.dirs'), 'utf8')
  } catch {
    // Most servers have no such file, and an unreadable one costs a folder name at worst.
    return undefined
  }
  const value = /^XDG_DOWNLOAD_DIR="([^"]*)"/m
    .exec(text)?.[1]
    ?.replace(/^\$HOME(?=\/|$)/, where.home)
  return value !== undefined && isAbsolute(value) ? value : undefined
}

/** Relative paths in these variables are to be ignored (XDG Base Directory Specification). */
function pathFrom({ environment }: Surroundings, name: string): string | undefined {
  const value = environment[name]
  return value !== undefined && isAbsolute(value) ? value : undefined
}
