/**
 * The small file beside the bytes of a staged upload: what to do with them once a document comes.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { isDataName } from '../core/data-name.ts'
import { decodeNumber, decodeString, objectOf, optional, type Decoder } from '../lib/decoder.ts'
import { decodeCount, decodeDigest, decodeVersion } from './record-fields.ts'

const VERSION = 1

export interface StagingRecord {
  readonly deviceId: string
  /**
   * Digest of the password hash that the device had; with another one it has no say in this upload.
   * Earlier versions wrote none.
   */
  readonly credential?: string | undefined
  readonly dataName: string
  readonly mediaType: string
  readonly size: number
  readonly sha256: string
  readonly blake3: string
  /** Unix milliseconds. */
  readonly stagedAt: number
  /** Later uploads have greater ones, whatever the clock did. */
  readonly sequence: number
  /** The boot of the machine in which it was staged, where that can be told. */
  readonly bootId?: string | undefined
}

const decodeDataName: Decoder<string> = (value, path) => {
  const name = decodeString(value, path)
  if (!isDataName(name)) throw new TypeError(`"${path}" must be a data name`)
  return name
}

const decodeRecord = objectOf({
  version: decodeVersion(VERSION),
  deviceId: decodeString,
  credential: optional(decodeDigest),
  dataName: decodeDataName,
  mediaType: decodeString,
  size: decodeCount,
  sha256: decodeDigest,
  blake3: decodeDigest,
  stagedAt: decodeNumber,
  sequence: decodeCount,
  bootId: optional(decodeString),
})

/** What a record says of the credential by which the upload came. */
export function credentialOf(passwordHash: string | undefined): string | undefined {
  if (passwordHash === undefined) return undefined
  return createHash('sha256').update(passwordHash).digest('hex')
}

export function formatStagingRecord(record: StagingRecord): string {
  return `${JSON.stringify({ version: VERSION, ...record })}\n`
}

/** @throws {SyntaxError} or {TypeError}, when it is not one of ours. */
export function parseStagingRecord(text: string): StagingRecord {
  const { version: _, ...record } = decodeRecord(JSON.parse(text))
  return record
}
