/**
 * Gives a finished file its name, unless somebody has that name.
 *
 * @module
 */

import { link, open, rename, unlink } from 'node:fs/promises'

import { hasCode } from './system-error.ts'

/** How file systems say that they have no hard links: FAT, and some network folders. */
const NO_LINKS: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

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
  await rename(from, to)
  return true
}
