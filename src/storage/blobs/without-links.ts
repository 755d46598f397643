/**
 * Makes sure that no link was followed on the way to something below a copied folder.
 *
 * `O_NOFOLLOW` speaks of the last step only, and a folder in between can become a link to another
 * one at any moment. So what was opened is asked afterwards where it is. Paths are those that the
 * system itself would give, without any link in them.
 * @module
 */

import { constants } from 'node:fs'
import { open, readlink, realpath } from 'node:fs/promises'
import { codeOf } from '../../lib/system-error.ts'

const FOLDER_FLAGS: number = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

const BYTES = { encoding: 'buffer' } as const

/** Where Linux has what this process has opened. Other systems list no folders through theirs. */
const OPENED = '/proc/self/fd'

const HAS_OPENED: boolean = process.platform === 'linux' || process.platform === 'android'

/** Whether an open file is the one at `path`, and no link was followed to it. */
export async function isOpenedAt({ fd }: { readonly fd: number }, path: Buffer): Promise<boolean> {
  if (!HAS_OPENED) return isWithoutLinks(path)
  return path.equals(await readlink(`${OPENED}/${fd}`, BYTES))
}

/**
 * Lists the folder at `path`.
 *
 * @param list Lists a folder of any path; that of the opened folder, where there is one.
 * @returns `undefined` when a link leads there.
 * @throws What `list` throws, or the error of a failing system call.
 */
export async function listWithoutLinks<T>(
  path: Buffer,
  list: (path: Buffer) => Promise<T>,
): Promise<T | undefined> {
  if (!HAS_OPENED) {
    const listed = await list(path)
    return (await isWithoutLinks(path)) ? listed : undefined
  }
  const folder = await open(path, FOLDER_FLAGS)
  try {
    if (!(await isOpenedAt(folder, path))) return undefined
    return await list(Buffer.from(`${OPENED}/${folder.fd}`))
  } finally {
    await folder.close()
  }
}

/** A folder that is swapped before and again after this is not noticed: only the system could. */
async function isWithoutLinks(path: Buffer): Promise<boolean> {
  try {
    return path.equals(await realpath(path, BYTES))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}
