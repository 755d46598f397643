/** Whether the files of this program are still where it was started from. @module */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The consequence, for people. */
export const PROGRAM_GONE = 'The files of clipgate are gone or were replaced: start it again'

/**
 * Whether the files are gone, as behind an upgrade: what was not loaded before cannot be loaded any
 * more. Asked when something has failed.
 */
export function isProgramGone(): boolean {
  return !existsSync(fileURLToPath(import.meta.url))
}
