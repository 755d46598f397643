/**
 * Replaces a small file so that a reader, a crash or a power cut sees the old bytes or the new
 * ones, never a mixture.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Readable and writable by the owner only: what we keep is private. */
export const PRIVATE_FILE_MODE = 0o600

/** How unfinished files are named; whoever owns the folder sweeps them at start. */
export const TEMPORARY_SUFFIX = '.tmp'

/**
 * Writes `content` to a new file beside `path`, syncs it, renames it to `path`, and syncs the
 * folder. When it rejects, `path` is as it was and nothing is left beside it.
 *
 * @throws The error of the failing system call.
 */
export async function writeFileAtomically(
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}${TEMPORARY_SUFFIX}`
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const file = await open(temporary, flags, PRIVATE_FILE_MODE)
  try {
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    // The first error is the one that tells what happened; a second one would only hide it.
    await unlink(temporary).catch(() => undefined)
    throw error
  }
  await syncFolder(dirname(path))
}

/** Makes earlier renames, creations and removals in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot open folders; NTFS journals its metadata by itself.
  if (process.platform === 'win32') return
  const folder = await open(path, constants.O_RDONLY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
