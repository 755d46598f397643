/**
 * Failures that the owner of a daemon can mend, as they go over the control listener. What is not
 * listed here is unexpected: a 500.
 *
 * @module
 */

import type { DomainErrorCode } from '../core/domain-error.ts'

export type OwnerErrorCode = Extract<
  DomainErrorCode,
  | 'NO_SUCH_DEVICE'
  | 'USERNAME_TAKEN'
  | 'USERNAME_INVALID'
  | 'PASSWORD_INVALID'
  | 'LABEL_INVALID'
  | 'NO_CLIPBOARD'
  | 'NO_SPACE'
  | 'DATA_DIRECTORY_UNUSABLE'
>

const STATUSES: Readonly<Record<OwnerErrorCode, number>> = {
  NO_SUCH_DEVICE: 404,
  USERNAME_TAKEN: 409,
  USERNAME_INVALID: 400,
  PASSWORD_INVALID: 400,
  LABEL_INVALID: 400,
  NO_CLIPBOARD: 409,
  NO_SPACE: 507,
  DATA_DIRECTORY_UNUSABLE: 507,
}

export function isOwnerErrorCode(code: string): code is OwnerErrorCode {
  return Object.hasOwn(STATUSES, code)
}

export function statusOf(code: OwnerErrorCode): number {
  return STATUSES[code]
}
