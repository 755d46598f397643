/**
 * Decoders of what our own files have in common.
 *
 * @module
 */

import { decodeNumber, decodeString, type Decoder } from '../lib/decoder.ts'

const DIGEST = /^[0-9a-f]{64}$/

/** 64 lower-case hex digits. */
export const decodeDigest: Decoder<string> = (value, path) => {
  const digest = decodeString(value, path)
  if (!DIGEST.test(digest)) throw new TypeError(`"${path}" must be 64 hex digits`)
  return digest
}

/** A whole number that is not negative. */
export const decodeCount: Decoder<number> = (value, path) => {
  const count = decodeNumber(value, path)
  if (!Number.isSafeInteger(count) || count < 0) throw new TypeError(`"${path}" must be a count`)
  return count
}

/** A later version of this program wrote the file, and knows what to do with it. */
export class NewerVersionError extends TypeError {
  override readonly name = 'NewerVersionError'

  constructor() {
    super('a newer version of clipgate wrote it')
  }
}

/** The one version that this program writes, and can read. */
export function decodeVersion(supported: number): Decoder<number> {
  return (value, path) => {
    const version = decodeNumber(value, path)
    if (version === supported) return version
    if (version > supported) throw new NewerVersionError()
    throw new TypeError(`"${path}" must be ${supported}`)
  }
}
