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

/** The one version that this program writes, and can read. */
export function decodeVersion(supported: number): Decoder<number> {
  return (value, path) => {
    const version = decodeNumber(value, path)
    if (version === supported) return version
    if (version > supported) throw new TypeError('a newer version of clipgate wrote it')
    throw new TypeError(`"${path}" must be ${supported}`)
  }
}
