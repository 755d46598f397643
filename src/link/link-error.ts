/**
 * The error of connect links.
 *
 * A link holds a password, so no message quotes one and no error has a `cause`: the messages of
 * `JSON.parse` repeat the text that it could not parse.
 * @module
 */

/** Why a link was refused: the six codes that every client of the protocol knows. */
export type LinkDecodeCode =
  | 'INVALID_SCHEME'
  | 'UNSUPPORTED_VERSION'
  | 'UNSUPPORTED_SERVICE'
  | 'PAYLOAD_DECODE_FAILED'
  | 'MISSING_FIELD'
  | 'INVALID_URL'

/** Why no link was made: two of the codes above, or one of these. */
export type LinkEncodeCode =
  | 'MISSING_FIELD'
  | 'INVALID_URL'
  | 'USERNAME_INVALID'
  | 'TEXT_MALFORMED'
  | 'METADATA_INVALID'
  | 'LINK_TOO_LONG'

export type LinkErrorCode = LinkDecodeCode | LinkEncodeCode

const MESSAGES: Readonly<Record<LinkErrorCode, string>> = {
  INVALID_SCHEME: 'The text is not a connect link: it must begin with "clip://connect?"',
  UNSUPPORTED_VERSION: 'The connect link is not of version 1',
  UNSUPPORTED_SERVICE: 'The connect link is for another service than "mobile-sync"',
  PAYLOAD_DECODE_FAILED: 'Cannot decode the payload of the connect link',
  MISSING_FIELD: 'A connect link needs "url", "user" and "pwd" that are not empty',
  INVALID_URL: 'The "url" of a connect link must begin with "http://" or "https://"',
  USERNAME_INVALID: 'The "user" of a connect link must be a letter and 5 to 31 of A-Z, a-z, 0-9, _',
  TEXT_MALFORMED: 'A connect link cannot carry lone surrogates',
  METADATA_INVALID: 'The "o" of a connect link must be an object of strings',
  LINK_TOO_LONG: 'The connect link would be longer than 800 characters',
}

/** The one error of the connect-link codec. */
export class LinkError extends Error {
  override readonly name = 'LinkError'
  readonly code: LinkErrorCode

  constructor(code: LinkErrorCode) {
    super(MESSAGES[code])
    this.code = code
  }
}
