/** Decoders of fields that several of our own files have. @module */

import { OCTET_STREAM } from '../../core/media-type.ts'
import { decodeNumber, decodeString, matching, type Decoder } from '../../lib/decoder.ts'

export const BLOB_NAME: RegExp = /^[0-9a-f]{32}$/

const DIGEST = /^[0-9a-f]{64}$/

export const decodeDigest: Decoder<string> = matchingText(DIGEST, '64 hex digits')

export const decodeBlobName: Decoder<string> = matchingText(BLOB_NAME, 'a blob name')

/** A number of up to 64 bits that is not negative, such as that of an inode, in decimal. */
export const decodeDecimal: Decoder<string> = matchingText(/^[0-9]{1,20}$/, 'a decimal number')

/** Nanoseconds since 1970 in decimal; times before that are negative. */
export const decodeNanoseconds: Decoder<string> = matchingText(/^-?[0-9]{1,20}$/, 'a time')

/** A whole number that is not negative. */
export const decodeCount: Decoder<number> = matching(
  decodeNumber,
  (value) => Number.isSafeInteger(value) && value >= 0,
  'a whole number',
)

function matchingText(pattern: RegExp, expected: string): Decoder<string> {
  return matching(decodeString, (text) => pattern.test(text), expected)
}

/** Earlier versions kept tabs of senders, and whatever members said: no reason not to start. */
export const decodeMediaType: Decoder<string> = (value, path) => {
  const mediaType = decodeString(value, path)
  return /^[ -~]*$/.test(mediaType) ? mediaType : OCTET_STREAM
}

/** Earlier versions kept what was no digest, and could not read the record again. */
export const decodePromise: Decoder<string | undefined> = (value) =>
  typeof value === 'string' && DIGEST.test(value) ? value : undefined
