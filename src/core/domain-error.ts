/** The failures below HTTP. The gateway maps each code to one answer. @module */

/** Stable name of a failure. */
export type DomainErrorCode =
  | 'NOTHING_STAGED'
  | 'UPLOAD_TOO_LARGE'
  | 'UPLOAD_INCOMPLETE'
  | 'UPLOAD_SEIZED'
  | 'LENGTH_EXCEEDED'
  | 'TEXT_TOO_LARGE'
  | 'TEXT_NOT_UTF8'
  | 'STAMP_AHEAD'
  | 'NO_SPACE'
  | 'BLOB_GONE'
  | 'GROUP_TOO_LARGE'
  | 'GROUP_EMPTY'
  | 'PACKAGE_MISSING'
  | 'VERIFIER_BUSY'
  | 'CREDENTIAL_GONE'
  | 'NO_SUCH_DEVICE'
  | 'USERNAME_INVALID'
  | 'USERNAME_TAKEN'
  | 'PASSWORD_INVALID'
  | 'LABEL_INVALID'
  | 'NO_CLIPBOARD'
  | 'NO_SUCH_PEER'
  | 'PEER_INVALID'
  | 'PEER_NAME_TAKEN'
  | 'PEER_REFUSED'
  | 'GROUP_KEY_EXISTS'
  | 'GROUP_KEY_INVALID'
  | 'BUS_UNUSABLE'
  | 'STATION_CLOSED'
  | 'DATA_DIRECTORY_BUSY'
  | 'DATA_DIRECTORY_UNUSABLE'
  | 'DATA_CORRUPT'

/** A failure that is known above. Its message begins with what failed, and holds no secret. */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: DomainErrorCode

  constructor(code: DomainErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.code = code
  }
}
