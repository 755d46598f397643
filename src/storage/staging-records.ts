/**
 * The records of staged uploads: a small file for each in `staging/`, named after its blob.
 *
 * A record is written once and removed at the end. Nobody waits for the disk, so that what is found
 * after a power cut may be less than was written.
 * @module
 */

import { createHash } from 'node:crypto'
import { readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { isDataName } from '../core/data-name.ts'
import { isTemporaryName, replaceFile } from '../lib/atomic-file.ts'
import {
  decodeNumber,
  decodeString,
  matching,
  objectOf,
  optional,
  type Decoder,
} from '../lib/decoder.ts'
import { defineJsonFile, NewerVersionError, type JsonFile } from '../lib/json-file.ts'
import { codeOf } from '../lib/system-error.ts'
import type { Logger } from '../ports/logger.ts'
import { toDomainError } from './disk-errors.ts'
import { readOwnFile } from './own-files.ts'
import { readBoot } from './process-identity.ts'
import { decodeCount, decodeDigest } from './record-fields.ts'

/** Disks write sectors of this many bytes as a whole, or not at all. */
const SECTOR_BYTES = 512

const RECORD_NAME = /^([0-9a-f]{32})\.json$/

/** An upload as it is described beside its bytes, for the document that comes. */
export interface StagingRecord {
  readonly deviceId: string
  /** Digest of the password hash that the device had. Earlier versions wrote none. */
  readonly credential?: string | undefined
  readonly dataName: string
  readonly mediaType: string
  readonly size: number
  readonly sha256: string
  readonly blake3: string
  /** Unix milliseconds. */
  readonly stagedAt: number
  /** Later uploads have greater numbers, whatever the clock did. */
  readonly sequence: number
  /** The boot of the machine in which the upload was staged, where that can be told. */
  readonly bootId?: string | undefined
}

const decodeRecord: Decoder<StagingRecord> = objectOf({
  deviceId: decodeString,
  credential: optional(decodeDigest),
  dataName: matching(decodeString, isDataName, 'a data name'),
  mediaType: decodeString,
  size: decodeCount,
  sha256: decodeDigest,
  blake3: decodeDigest,
  stagedAt: decodeNumber,
  sequence: decodeCount,
  bootId: optional(decodeString),
})

/** The text of a record. */
export const STAGING_RECORD: JsonFile<StagingRecord> = defineJsonFile({
  version: 1,
  decode: decodeRecord,
})

/** A record from before the start. */
export interface FoundRecord {
  /** The name of the record and of its blob. */
  readonly name: string
  readonly record: StagingRecord
  /** Whether the power may have been cut since the bytes were written. */
  readonly mayBeTorn: boolean
}

interface FoundRecords {
  /** In the order in which the uploads were staged. */
  readonly records: readonly FoundRecord[]
  /** Names of blobs whose records cannot be read; both are left as they are. */
  readonly unreadable: readonly string[]
}

/** How a record names the credential by which an upload came. */
export function credentialOf(passwordHash: string | undefined): string | undefined {
  if (passwordHash === undefined) return undefined
  return createHash('sha256').update(passwordHash).digest('hex')
}

/** The folder of the records. */
export class StagingRecords {
  readonly #folder: string
  readonly #logger: Logger
  #bootId: string | undefined = undefined

  /** @param folder Exists, and is ours alone. */
  constructor(folder: string, logger: Logger) {
    this.#folder = folder
    this.#logger = logger
  }

  /** Reads the records. @throws {DomainError} `DATA_DIRECTORY_UNUSABLE`. */
  async load(): Promise<FoundRecords> {
    const records: FoundRecord[] = []
    const unreadable: string[] = []
    this.#bootId = (await readBoot()).bootId
    for (const entry of await readdir(this.#folder, { withFileTypes: true })) {
      const [, name] = RECORD_NAME.exec(entry.name) ?? []
      if (!entry.isFile()) continue
      if (isTemporaryName(entry.name)) await this.#unlink(entry.name)
      if (name === undefined) continue
      const record = await this.#read(entry.name)
      if (record === 'unreadable') unreadable.push(name)
      else if (record === 'unfinished') await this.#unlink(entry.name)
      else {
        const mayBeTorn = record.bootId === undefined || record.bootId !== this.#bootId
        records.push({ name, record, mayBeTorn })
      }
    }
    records.sort((a, b) => a.record.sequence - b.record.sequence)
    return { records, unreadable }
  }

  /** Files a record, which may not survive a power cut. @throws {DomainError} `NO_SPACE`. */
  async write(name: string, record: StagingRecord): Promise<void> {
    const text = STAGING_RECORD.format({ ...record, bootId: this.#bootId })
    try {
      await replaceFile(join(this.#folder, `${name}.json`), text)
    } catch (error) {
      throw toDomainError(error, 'Cannot keep the upload')
    }
  }

  /** Removes the record of a blob. What cannot be removed now is dealt with at the next start. */
  async remove(name: string): Promise<void> {
    await this.#unlink(`${name}.json`)
  }

  async #read(fileName: string): Promise<StagingRecord | 'unfinished' | 'unreadable'> {
    const path = join(this.#folder, fileName)
    try {
      const text = await readOwnFile(path)
      return text === undefined || isCutOff(text) ? 'unfinished' : STAGING_RECORD.parse(text)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      const isNewer = error instanceof NewerVersionError
      const remedy = isNewer
        ? 'left as it is; run the newer version of clipgate that wrote it'
        : 'left as it is; remove it when it is not needed'
      this.#logger.warn('Cannot read the record of a staged upload', { path, remedy })
      return 'unreadable'
    }
  }

  async #unlink(fileName: string): Promise<void> {
    const path = join(this.#folder, fileName)
    try {
      await unlink(path)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ENOENT') return
      this.#logger.warn('Cannot remove the record of a staged upload', { path, code })
    }
  }
}

/** Whether a power cut has left this of a record: nothing, some sectors of it, or zeros. */
function isCutOff(text: string): boolean {
  if (text.includes('\0')) return true
  return !text.endsWith('\n') && Buffer.byteLength(text) % SECTOR_BYTES === 0
}
