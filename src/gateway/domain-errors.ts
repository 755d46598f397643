/** Says what a client sees of the failures below the gateway. @module */

import { DomainError, type DomainErrorCode } from '../core/domain-error.ts'
import { HttpError, type HttpErrorCode } from '../http/http-error.ts'
import { isProgramGone } from '../lib/program-files.ts'
import { isShortage } from '../lib/system-error.ts'
import { unauthorized } from './authenticate.ts'

const ANSWERS: Readonly<Record<DomainErrorCode, HttpErrorCode>> = {
  NOTHING_STAGED: 'NOTHING_STAGED',
  UPLOAD_TOO_LARGE: 'BODY_TOO_LARGE',
  GROUP_TOO_LARGE: 'BODY_TOO_LARGE',
  UPLOAD_INCOMPLETE: 'INCOMPLETE_BODY',
  UPLOAD_SEIZED: 'CONFLICT',
  LENGTH_EXCEEDED: 'UPLOAD_LENGTH_INCONSISTENT',
  TEXT_TOO_LARGE: 'BODY_TOO_LARGE',
  TEXT_NOT_UTF8: 'BAD_BODY',
  STAMP_AHEAD: 'STAMP_AHEAD',
  NO_SPACE: 'NO_SPACE',
  BLOB_GONE: 'NOT_FOUND',
  VERIFIER_BUSY: 'OVERLOADED',
  CREDENTIAL_GONE: 'UNAUTHORIZED',
  STATION_CLOSED: 'DRAINING',
  // The rest happens on the desktop, in pairing, in joining and at start, never on this listener.
  GROUP_EMPTY: 'INTERNAL',
  PACKAGE_MISSING: 'INTERNAL',
  NO_SUCH_DEVICE: 'INTERNAL',
  USERNAME_INVALID: 'INTERNAL',
  USERNAME_TAKEN: 'INTERNAL',
  PASSWORD_INVALID: 'INTERNAL',
  LABEL_INVALID: 'INTERNAL',
  NO_CLIPBOARD: 'INTERNAL',
  NO_SUCH_PEER: 'INTERNAL',
  PEER_INVALID: 'INTERNAL',
  PEER_NAME_TAKEN: 'INTERNAL',
  PEER_REFUSED: 'INTERNAL',
  DATA_DIRECTORY_BUSY: 'INTERNAL',
  DATA_DIRECTORY_UNUSABLE: 'INTERNAL',
  GROUP_KEY_EXISTS: 'INTERNAL',
  GROUP_KEY_INVALID: 'INTERNAL',
  BUS_UNUSABLE: 'INTERNAL',
  DATA_CORRUPT: 'INTERNAL',
}

/** Wraps whatever a handler threw into the error that is answered. */
export function toHttpError(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown
  const code = codeOf(thrown)
  return code === 'UNAUTHORIZED' ? unauthorized() : new HttpError(code, { cause: thrown })
}

function codeOf(thrown: unknown): HttpErrorCode {
  if (thrown instanceof DomainError) return ANSWERS[thrown.code]
  return isShortage(thrown) || isProgramGone() ? 'OVERLOADED' : 'INTERNAL'
}
