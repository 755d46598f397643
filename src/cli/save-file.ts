/** Saves bytes from elsewhere: whole or not at all, never over another file. @module */

import { createHash } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { safeFileName } from '../lib/safe-file-name.ts'
import { saveUnderFreeName } from '../lib/save-under-free-name.ts'
import { FULL_DISK_CODES, hasCode, wordsOf } from '../lib/system-error.ts'
import { CommandError } from './command.ts'

/** A person with more files of one name has another problem. */
const MAX_NUMBER = 1000

/** The place of a file: a name that was asked for, or one like that of the item. */
export interface Target {
  readonly folder: string
  readonly name: string
  readonly isExact: boolean
}

/** The file that a person named. */
export function exactTarget(cwd: string, path: string): Target {
  const full = resolve(cwd, path)
  return { folder: dirname(full), name: basename(full), isExact: true }
}

/** A file in `folder`, called like the item as far as that is safe. */
export function likeItem(folder: string, dataName: string): Target {
  return { folder, name: safeFileName(dataName, process.platform), isExact: false }
}

/** Finds out early that a name is taken: a download takes time. @throws {CommandError} */
export async function refuseTaken(target: Target): Promise<void> {
  const isTaken = await lstat(join(target.folder, target.name)).then(
    () => true,
    // Writing will fail for the same reason, and say it.
    () => false,
  )
  if (isTaken) throw taken(target)
}

/**
 * Writes `bytes`, asks `check` about their SHA-256 (lower-case hex), and only then gives the file
 * its name.
 *
 * @returns The path of the file.
 * @throws {CommandError} when the name is taken or the folder cannot be written.
 * @throws What `check` or `bytes` throws. Nothing is left behind then.
 */
export async function saveFile(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  target: Target,
  check: (sha256: string) => void,
): Promise<string> {
  const { folder, name, isExact } = target
  try {
    const wanted = { folder, name, to: isExact ? 1 : MAX_NUMBER }
    const path = await saveUnderFreeName(wanted, async (file) => {
      const hash = createHash('sha256')
      for await (const chunk of bytes) {
        hash.update(chunk)
        await file.writeFile(chunk)
      }
      check(hash.digest('hex'))
    })
    if (path !== undefined) return path
  } catch (error) {
    // The folder or its disk says so; the network has other codes.
    if (!hasCode(error, ...FILE_CODES)) throw error
    throw new CommandError(`Cannot save a file in "${folder}": ${wordsOf(error)}`, { cause: error })
  }
  throw taken(target)
}

function taken({ folder, name }: Target): CommandError {
  return new CommandError(
    `Cannot save "${join(folder, name)}": it exists already; choose another name`,
  )
}

const PLACE_CODES = ['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG']
const FILE_CODES = [...PLACE_CODES, 'EBUSY', 'EROFS', 'EIO', ...FULL_DISK_CODES]
