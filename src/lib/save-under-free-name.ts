/** Saves a file whole or not at all, under a name that nobody has. @module */

import { randomBytes } from 'node:crypto'
import { link, lstat, open, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { renameOver } from './atomic-file.ts'
import { numberedName } from './safe-file-name.ts'
import { hasCode } from './system-error.ts'

/** Names of unfinished files: hidden, and nobody else's. The first group is the mark. */
export const UNFINISHED: RegExp = /^\.clipgate-([0-9a-f]{8})[0-9a-f]{8}\.part$/

/**
 * How file systems say that they have no hard links: FAT, and some network folders. `EISDIR` is how
 * libuv spells "incorrect function" of Windows.
 */
const NO_LINKS: readonly string[] = ['EPERM', 'EISDIR', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** The names that a file may get: `name`, `name (2)` and so on. */
export interface WantedName {
  readonly folder: string
  /** A name that is safe in this folder. */
  readonly name: string
  /** The first number to try; 1, which is the name itself, unless given. */
  readonly from?: number
  /** The last number to try. */
  readonly to: number
  /** 8 hex digits, by which whoever writes here knows what it left; random unless given. */
  readonly mark?: string | undefined
}

/**
 * Lets `write` fill a new file, and then gives it the first name that is free.
 *
 * @returns The path of the file; `undefined` when every name is taken.
 * @throws What `write` throws, or the error of the failing system call; nothing is left then.
 */
export async function saveUnderFreeName(
  { folder, name, from = 1, to, mark = randomHex() }: WantedName,
  write: (file: FileHandle) => Promise<void>,
): Promise<string | undefined> {
  const unfinished = join(folder, `.clipgate-${mark}${randomHex()}.part`)
  let isNamed = false
  try {
    const file = await open(unfinished, 'wx')
    try {
      await write(file)
    } finally {
      await file.close()
    }
    for (let number = from; number <= to; number += 1) {
      const path = join(folder, numberedName(name, number))
      isNamed = await moveToFreeName(unfinished, path)
      if (isNamed) return path
    }
    return undefined
  } finally {
    // The first error is the one that tells what happened; often there is nothing to remove.
    if (!isNamed) await unlink(unfinished).catch(() => undefined)
  }
}

function randomHex(): string {
  return randomBytes(4).toString('hex')
}

/**
 * Moves a file to a name that nobody has.
 *
 * @param makeLink Makes hard links; another one than that of the system is for tests.
 * @returns Whether the name was free.
 */
export async function moveToFreeName(
  from: string,
  to: string,
  makeLink: typeof link = link,
): Promise<boolean> {
  try {
    await makeLink(from, to)
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    if (!hasCode(error, ...NO_LINKS)) throw error
    return renameToReserved(from, to)
  }
  await unlink(from)
  return true
}

/** Renaming replaces what is there, so the name is taken first, and our own empty file replaced. */
async function renameToReserved(from: string, to: string): Promise<boolean> {
  try {
    await (await open(to, 'wx')).close()
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
  try {
    await renameOver(from, to)
  } catch (error) {
    // The first error is the one that tells what happened.
    await removeEmpty(to).catch(() => undefined)
    throw error
  }
  return true
}

/** Leaves alone what somebody has written meanwhile. */
async function removeEmpty(path: string): Promise<void> {
  const { size } = await lstat(path)
  if (size === 0) await unlink(path)
}
