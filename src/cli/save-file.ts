/**
 * Saves bytes from another machine as a file: whole or not at all, and never over another one.
 *
 * @module
 */

import { createHash, randomBytes } from 'node:crypto'
import { lstat, open, unlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { moveToFreeName } from '../lib/move-to-free-name.ts'
import { hasCode } from '../lib/system-error.ts'
import { numberedName, safeFileName } from '../lib/safe-file-name.ts'
import { CommandError } from './command.ts'

/** A person with more files of one name has another problem. */
const MAX_NUMBER = 1000

/** Where a file goes: a name that was asked for, or one like that of the item. */
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

/**
 * Finds out early that a name which was asked for is taken: a download takes time.
 *
 * @throws {CommandError} when it is.
 */
export async function refuseTaken(target: Target): Promise<void> {
  const isTaken = await lstat(join(target.folder, target.name)).then(
    () => true,
    // Whatever it is, writing will tell.
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
  bytes: AsyncIterable<Uint8Array>,
  target: Target,
  check: (sha256: string) => void,
): Promise<string> {
  const { folder, name, isExact } = target
  const unfinished = join(folder, `.clipgate-${randomBytes(8).toString('hex')}.part`)
  try {
    check(await write(bytes, unfinished))
    for (let number = 1; number <= (isExact ? 1 : MAX_NUMBER); number++) {
      const path = join(folder, numberedName(name, number))
      if (await moveToFreeName(unfinished, path)) return path
    }
    throw taken(target)
  } catch (error) {
    // The first error is the one that tells what happened; often there is nothing to remove.
    await unlink(unfinished).catch(() => undefined)
    if (!isFileError(error)) throw error
    throw new CommandError(`Cannot save a file in "${folder}": ${error.code}`, { cause: error })
  }
}

async function write(bytes: AsyncIterable<Uint8Array>, path: string): Promise<string> {
  const hash = createHash('sha256')
  const file = await open(path, 'wx')
  try {
    for await (const chunk of bytes) {
      hash.update(chunk)
      await file.writeFile(chunk)
    }
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}

function taken({ folder, name }: Target): CommandError {
  return new CommandError(
    `Cannot save "${join(folder, name)}": it exists already; choose another name`,
  )
}

/** Whether the folder or its disk says so; the network has other codes. */
function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return hasCode(error, ...FILE_CODES)
}

const FILE_CODES: readonly string[] = [
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'EIO',
  'ELOOP',
  'ENAMETOOLONG',
]
