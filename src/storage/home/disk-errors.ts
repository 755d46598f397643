/** Turns failures of the disk, and of what it holds, into domain errors. @module */

import { DomainError } from '../../core/domain-error.ts'
import { NewerVersionError } from '../../lib/atomic-file.ts'
import { FULL_DISK_CODES, hasCode, codeOf } from '../../lib/system-error.ts'

/** The disk takes nothing until it is mended: read-only, taken from this user, or broken. */
const UNWRITABLE_CODES: readonly string[] = ['EROFS', 'EACCES', 'EPERM', 'EIO']

/** Whether an error is `NO_SPACE` because the disk said so; a refusal of our own has no cause. */
export function isDiskFailure(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'NO_SPACE' && error.cause !== undefined
}

/**
 * `NO_SPACE` for a system call that failed because the disk is full or takes nothing; every other
 * error as it is.
 *
 * @param action Begins the message.
 */
export function toDomainError(error: unknown, action = 'Cannot keep the upload'): unknown {
  const isFull = hasCode(error, ...FULL_DISK_CODES)
  if (!isFull && !hasCode(error, ...UNWRITABLE_CODES)) return error
  const reason = isFull ? 'no space left' : `the disk cannot be written (${codeOf(error)})`
  return new DomainError('NO_SPACE', `${action}: ${reason}`, { cause: error })
}

/**
 * `DATA_CORRUPT` for a file of ours that cannot be decoded; every other error as it is.
 *
 * @param remedy Ends the message, unless a later version of this program wrote the file.
 */
export function toCorrupt(path: string, error: unknown, remedy: string): unknown {
  if (!(error instanceof TypeError)) return error
  const advice = error instanceof NewerVersionError ? 'run that version' : remedy
  return new DomainError('DATA_CORRUPT', `Cannot read ${path}: ${error.message}; ${advice}`)
}
