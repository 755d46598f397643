/**
 * Tells a full disk from other failures.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'

/** No space, over quota, or larger than the file system or a limit allows. */
const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** `error` as `NO_SPACE` when the disk is full; else as it is. */
export function toDomainError(error: unknown, action: string): unknown {
  if (!FULL.has(codeOf(error))) return error
  return new DomainError('NO_SPACE', `${action}: no space left`, { cause: error })
}

/** The code of a failed system call. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
