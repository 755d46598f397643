/**
 * Tells a full disk from other failures.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { codeOf } from '../lib/system-error.ts'

/** No space, over quota, or larger than the file system or a limit allows. */
const FULL: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG']

/** Read-only, taken away from this user, or broken: no room either, until somebody mends it. */
const UNWRITABLE: readonly unknown[] = ['EROFS', 'EACCES', 'EPERM', 'EIO']

/** Whether `error` came from the disk; what was refused before it got there has no cause. */
export function isDiskFailure(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'NO_SPACE' && error.cause !== undefined
}

/** `error` as `NO_SPACE` when the disk is full or takes nothing; else as it is. */
export function toDomainError(error: unknown, action: string): unknown {
  const code = codeOf(error)
  const isFull = FULL.includes(code)
  if (!isFull && !UNWRITABLE.includes(code)) return error
  const reason = isFull ? 'no space left' : `the disk cannot be written (${code})`
  return new DomainError('NO_SPACE', `${action}: ${reason}`, { cause: error })
}
