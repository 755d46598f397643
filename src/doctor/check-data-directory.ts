/**
 * Whether the data directory, or the place where it would be made, can be used.
 *
 * Makes nothing. Modes that a start repairs by itself are no finding.
 *
 * @module
 */

import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readOwnFile } from '../storage/own-files.ts'
import { parseItemFile } from '../storage/item-file.ts'
import { codeOf } from '../lib/system-error.ts'
import { fine, problem, type Finding } from './finding.ts'
import type { Situation } from './situation.ts'

const CHECK = 'data-directory'

const OTHERS_MAY_WRITE = 0o022
const STICKY = 0o1000

const USE = constants.R_OK | constants.W_OK | constants.X_OK

export async function checkDataDirectory({ settings, daemon }: Situation): Promise<Finding> {
  const { dataDir } = settings
  const place = await findPlace(dataDir)
  if (!place.isFolder) {
    return problem(CHECK, `${place.path} is not a folder`, 'move it away, or set --data-dir')
  }
  const trouble = await findTrouble(place.path)
  if (trouble !== undefined) {
    const fix = `make it writable for this user (chown, chmod, mount), or set --data-dir`
    return problem(CHECK, `${place.path} cannot be used: ${trouble}`, fix)
  }
  if (place.path !== dataDir) return fine(CHECK, `${dataDir} is made by the first start`)

  const user = process.geteuid?.()
  if (user !== undefined && place.uid !== user) {
    const fix = 'run as that user, or change its owner: chown -R'
    return problem(CHECK, `${dataDir} belongs to another user`, fix)
  }
  if ((place.mode & STICKY) !== 0 && (place.mode & OTHERS_MAY_WRITE) !== 0) {
    return problem(
      CHECK,
      `${dataDir} is shared with other users`,
      'set --data-dir to a folder of its own',
    )
  }
  return daemon === undefined ? checkItem(dataDir) : fine(CHECK, dataDir)
}

interface Place {
  readonly path: string
  readonly isFolder: boolean
  readonly uid: number
  readonly mode: number
}

/** The folder at `path`, or the nearest one above it that exists. */
export async function findPlace(path: string): Promise<Place> {
  try {
    const stats = await stat(path)
    return { path, isFolder: stats.isDirectory(), uid: stats.uid, mode: stats.mode }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) {
      return { path, isFolder: codeOf(error) !== 'ENOTDIR', uid: -1, mode: 0 }
    }
    return findPlace(dirname(path))
  }
}

/** Why a folder cannot be written to; `undefined` when it can. */
export async function findTrouble(path: string): Promise<string | undefined> {
  try {
    await access(path, USE)
    return undefined
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EROFS') return 'the file system is read-only'
    return code === 'EACCES' || code === 'EPERM' ? 'this user may not' : `the system says ${code}`
  }
}

/** A damaged item stops a start. Messages about it never quote it. */
async function checkItem(dataDir: string): Promise<Finding> {
  const path = join(dataDir, 'item.json')
  try {
    const text = await readOwnFile(path)
    if (text !== undefined) parseItemFile(text)
  } catch {
    // The cause may quote what was copied.
    const fix = `start once to see why, or move ${path} away`
    return problem(CHECK, `${path} is damaged, or not ours to read`, fix)
  }
  return fine(CHECK, dataDir)
}
