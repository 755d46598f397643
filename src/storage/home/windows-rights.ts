/**
 * Keeps other users of Windows out of a folder. There are no modes, and a folder outside of the
 * user's profile is as open as the one above it.
 * @module
 */

import { execFile } from 'node:child_process'
import { homedir } from 'node:os'
import { join, win32 } from 'node:path'
import { promisify } from 'node:util'

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
 * Lets nobody but this user and the system into a folder that inherits its rights, unless it is in
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
