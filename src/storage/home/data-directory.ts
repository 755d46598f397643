/** The data directory: private folders, held by one program at a time. @module */

import { readdir, realpath, rm } from 'node:fs/promises'
import { join, win32 } from 'node:path'
import { isTemporaryName } from '../../lib/atomic-file.ts'
import { hasCode } from '../../lib/system-error.ts'
import { DirectoryLock } from './lock.ts'
import { ensureOwnFolder, ensurePrivateFolder, toUnusable, unusable } from './own-files.ts'
import { execFile } from 'node:child_process'
import { homedir } from 'node:os'
import { promisify } from 'node:util'

export const BLOBS_FOLDER = 'blobs'

export const STAGING_FOLDER = 'staging'

/** A data directory that is ours until it is closed. */
export interface DataDirectory {
  /** Absolute, without links. */
  readonly path: string
  /** Tells others, through the lock, where the control listener is. */
  announce(about: { readonly control: string }): Promise<void>
  /** Gives it back. Calling it twice is fine. */
  close(): Promise<void>
}

/**
 * Creates what is missing, also the folders above, makes it private, takes the lock, and removes
 * what an earlier run left unfinished.
 *
 * @throws {DomainError} `DATA_DIRECTORY_BUSY`, naming the process that holds it;
 *   `DATA_DIRECTORY_UNUSABLE` and `DATA_CORRUPT`, naming the path and the remedy.
 */
export async function openDataDirectory(options: {
  readonly path: string
}): Promise<DataDirectory> {
  await ensurePrivateFolder(options.path)
  const path = await realpath(options.path)
  if (process.platform === 'win32') {
    await keepOthersOut(path).catch((error: unknown) => {
      throw unusable(path, 'other users may read it; choose a folder in your profile', error)
    })
  }
  const lock = await DirectoryLock.take(path).catch((error: unknown) => {
    throw toUnusable(path, error)
  })
  try {
    for (const folder of [BLOBS_FOLDER, STAGING_FOLDER]) await ensureOwnFolder(join(path, folder))
    await sweepTemporaries(path)
  } catch (error) {
    await lock.release()
    throw toUnusable(path, error)
  }
  return { path, announce: (about) => lock.announce(about), close: () => lock.release() }
}

async function sweepTemporaries(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true })
  const left = entries.filter((entry) => entry.isFile() && isTemporaryName(entry.name))
  await Promise.all(left.map(({ name }) => sweep(join(path, name))))
}

async function sweep(path: string): Promise<void> {
  try {
    // Another program that just failed to get the lock removes its own.
    await rm(path, { force: true })
  } catch (error) {
    // On Windows a scanner may have it open; the next start tries again.
    if (!hasCode(error, 'EBUSY', 'EPERM')) throw error
  }
}

/** The system itself, for backups and scanners: the same number on each machine. */
const SYSTEM = '*S-1-5-18'

/** Long enough for a folder with many files on a slow disk, to which rights are passed on. */
const TIMEOUT_MS = 60_000

/** The properties of a user of Windows that decide what is private. */
export interface WindowsUser {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly home: string
}

/**
 * Lets nobody but this user and the system into a folder of Windows that inherits its rights: there
 * are no modes, and such a folder is as open as the one above it. Does nothing where it is in
 * the user's profile, which is private.
 *
 * @throws {Error} When the rights cannot be read or changed.
 */
export async function keepOthersOut(
  path: string,
  { environment, home }: WindowsUser = { environment: process.env, home: homedir() },
): Promise<void> {
  const way = win32.relative(home, path)
  if (!way.startsWith('..') && !win32.isAbsolute(way)) return
  const program = join(environment['SystemRoot'] ?? 'C:\\Windows', 'System32', 'icacls.exe')
  const icacls = async (...args: readonly string[]) =>
    promisify(execFile)(program, [path, ...args], {
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      windowsHide: true,
    })
  const { stdout } = await icacls()
  // Marks, in each language, a right that comes from the folder above.
  if (!stdout.includes('(I)')) return
  const user = `${environment['USERDOMAIN'] ?? '.'}\\${environment['USERNAME'] ?? ''}`
  const grants = [user, SYSTEM].map((one) => `${one}:(OI)(CI)F`)
  await icacls('/inheritance:r', '/grant:r', ...grants)
}
