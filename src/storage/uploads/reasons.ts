/** Why uploads end: what whoever works on one is told. @module */

import { DomainError, type DomainErrorCode } from '../../core/domain-error.ts'

/** It is not needed any more. */
export function gone(): DomainError {
  return stopped('BLOB_GONE', 'it was given up')
}

/** Nothing came of it for too long. */
export function expired(): DomainError {
  return stopped('BLOB_GONE', 'no bytes came for too long')
}

/** Another request goes on with it. */
export function seized(): DomainError {
  return stopped('UPLOAD_SEIZED', 'another request did')
}

/** Its sender was shut out. */
export function shutOut(): DomainError {
  return new DomainError('CREDENTIAL_GONE', 'Cannot keep the upload: its sender was shut out')
}

/** Another program may have the data directory. */
export function closed(): DomainError {
  return new DomainError('STATION_CLOSED', 'Cannot keep the upload: the station is closed')
}

/** Its device began too many after it. */
export function tooMany(): DomainError {
  return stopped('NO_SPACE', 'its device began too many')
}

/** All room is used up, and nobody has to give way. */
export function noRoom(): DomainError {
  return new DomainError('NO_SPACE', 'Cannot stage the upload: too much waits already')
}

/** Whether more came than may come: nothing of an upload is left then. */
export function isTooMuch(error: unknown): boolean {
  if (!(error instanceof DomainError)) return false
  return error.code === 'LENGTH_EXCEEDED' || error.code === 'UPLOAD_TOO_LARGE'
}

function stopped(code: DomainErrorCode, reason: string): DomainError {
  return new DomainError(code, `Cannot go on with the upload: ${reason}`)
}
