/** Tells a full disk from other failures. @module */

import { DomainError } from '../core/domain-error.ts'
import { FULL_DISK_CODES, hasCode, codeOf } from '../lib/system-error.ts'

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
 * @param action Begins the message: "Cannot keep the item".
 */
export function toDomainError(error: unknown, action: string): unknown {
  const isFull = hasCode(error, ...FULL_DISK_CODES)
  if (!isFull && !hasCode(error, ...UNWRITABLE_CODES)) return error
  const reason = isFull ? 'no space left' : `the disk cannot be written (${codeOf(error)})`
  return new DomainError('NO_SPACE', `${action}: ${reason}`, { cause: error })
}
