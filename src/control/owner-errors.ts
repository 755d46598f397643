/**
 * Failures that the owner of a daemon can mend, as they go over the control listener.
 * @module
 */

import type { DomainErrorCode } from '../core/domain-error.ts'

/** The HTTP status of each failure. A code that is not listed here is unexpected: a 500. */
export const OWNER_ERROR_STATUS: Readonly<Partial<Record<DomainErrorCode, number>>> = {
  NO_SUCH_DEVICE: 404,
  USERNAME_TAKEN: 409,
  USERNAME_INVALID: 400,
  PASSWORD_INVALID: 400,
  LABEL_INVALID: 400,
  NO_CLIPBOARD: 409,
  NO_SUCH_PEER: 404,
  PEER_INVALID: 400,
  PEER_NAME_TAKEN: 409,
  PEER_REFUSED: 409,
  NO_SPACE: 507,
  DATA_DIRECTORY_UNUSABLE: 507,
}

/** Whether a code in an answer is that of a failure in the table. */
export function isOwnerErrorCode(code: string): code is DomainErrorCode {
  return Object.hasOwn(OWNER_ERROR_STATUS, code)
}
