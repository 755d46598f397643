/**
 * The records of uploads: a small file for each in `staging/`, named after its blob.
 *
 * A record is written, amended once at most, and removed at the end. Nobody waits for the disk, so
 * that what is found after a power cut may be less than was written.
 * @module
 */

import { createHash } from 'node:crypto'
import { readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { isBatchId, isDataName, isHash } from '../../core/item.ts'
import {
  defineJsonFile,
  isTemporaryName,
  type JsonFile,
  NewerVersionError,
  replaceFile,
} from '../../lib/atomic-file.ts'
import {
  decodeBoolean,
  decodeNumber,
  type Decoder,
  decodeString,
  matching,
  objectOf,
  optional,
} from '../../lib/decoder.ts'
import { describeFailure } from '../../lib/describe-failure.ts'
import { codeOf } from '../../lib/system-error.ts'
import type { Logger } from '../../ports/logger.ts'
import type { BatchMember, StagedUpload, UploadSource } from '../../ports/staging-area.ts'
import { toDomainError } from '../home/disk-errors.ts'
import { readOwnFile } from '../home/own-files.ts'
import { readBoot } from '../home/process-identity.ts'
import {
  BLOB_NAME,
  decodeCount,
  decodeDigest,
  decodeMediaType,
  decodePromise,
} from '../blobs/record-fields.ts'

/** Disks write sectors of this many bytes as a whole, or not at all. */
const SECTOR_BYTES = 512

interface UploadRecord {
  readonly deviceId: string
  /** Digest of the password hash that the device had. Earlier versions wrote none. */
  readonly credential?: string | undefined
  readonly dataName: string
  /** Later uploads have greater numbers, whatever the clock did. */
  readonly sequence: number
  /** The boot of the machine in which the record was written, where that can be told. */
  readonly bootId?: string | undefined
  readonly member?: BatchMember | undefined
}

interface RecordKind<Fields> {
  readonly text: JsonFile<Fields>
  /** The end of the names of its files, without a dot. */
  readonly extension: string
}

/** A staged upload as it is described beside its bytes, for the document that comes. */
export interface StagingRecord extends UploadRecord {
  readonly mediaType: string
  readonly size: number
  readonly sha256: string
  readonly blake3: string
  /** Unix milliseconds. */
  readonly stagedAt: number
  /** Whether its sender may ask whether it is complete. Earlier versions wrote none. */
  readonly isResumable?: boolean | undefined
  /** As `UploadName.knownAs`. Earlier versions wrote none. */
  readonly knownAs?: string | undefined
}

const decodeMember: Decoder<BatchMember> = objectOf({
  batch: matching(decodeString, isBatchId, 'a batch'),
  number: decodeCount,
})

const UPLOAD = {
  deviceId: decodeString,
  credential: optional(decodeDigest),
  dataName: matching(decodeString, isDataName, 'a data name'),
  sequence: decodeCount,
  bootId: optional(decodeString),
  member: optional(decodeMember),
} as const

const decodeRecord: Decoder<StagingRecord> = objectOf({
  ...UPLOAD,
  mediaType: decodeMediaType,
  size: decodeCount,
  sha256: decodeDigest,
  blake3: decodeDigest,
  stagedAt: decodeNumber,
  isResumable: optional(decodeBoolean),
  knownAs: optional(matching(decodeString, (text) => text === '' || isHash(text), 'a hash')),
})

export const STAGING_RECORD: JsonFile<StagingRecord> = defineJsonFile({
  version: 1,
  decode: decodeRecord,
})

export const STAGED: RecordKind<StagingRecord> = { text: STAGING_RECORD, extension: 'json' }

/** An upload that is not complete, as it is described beside the bytes that have come. */
export interface PartialRecord extends UploadRecord {
  readonly contentType?: string | undefined
  /** Bytes of the whole, where that is known. */
  readonly length?: number | undefined
  /** SHA-256 that the whole is to have. */
  readonly sha256?: string | undefined
  /** Bytes that survive a power cut; noted when the daemon stops. */
  readonly synced?: number | undefined
}

export const PARTIAL: RecordKind<PartialRecord> = {
  extension: 'partial',
  text: defineJsonFile({
    version: 1,
    decode: objectOf({
      ...UPLOAD,
      contentType: optional(decodeString),
      length: optional(decodeCount),
      sha256: decodePromise,
      synced: optional(decodeCount),
    }),
  }),
}

/** A record from before the start. */
export interface FoundRecord<Fields = StagingRecord> {
  /** The name of the record and of its blob. */
  readonly name: string
  readonly record: Fields
  /** Whether the power may have been cut since the bytes were written. */
  readonly mayBeTorn: boolean
}

interface FoundRecords<Fields> {
  /** In the order in which the uploads came. */
  readonly records: readonly FoundRecord<Fields>[]
  /** Names of blobs whose records cannot be read; both are left as they are. */
  readonly unreadable: readonly string[]
}

/** How a record names the credential by which an upload came. */
export function credentialOf(passwordHash: string | undefined): string | undefined {
  if (passwordHash === undefined) return undefined
  return createHash('sha256').update(passwordHash).digest('hex')
}

/** The records of one kind in their folder. */
export class UploadRecords<Fields extends UploadRecord> {
  readonly #folder: string
  readonly #logger: Logger
  readonly #kind: RecordKind<Fields>
  #bootId: string | undefined

  /** @param folder Exists, and is ours alone. */
  constructor(folder: string, logger: Logger, kind: RecordKind<Fields>) {
    this.#folder = folder
    this.#logger = logger
    this.#kind = kind
  }

  /** Reads the records. @throws {DomainError} `DATA_DIRECTORY_UNUSABLE`. */
  async load(): Promise<FoundRecords<Fields>> {
    const records: FoundRecord<Fields>[] = []
    const unreadable: string[] = []
    this.#bootId = readBoot().bootId
    for (const entry of await readdir(this.#folder, { withFileTypes: true })) {
      if (!entry.isFile()) continue
      if (isTemporaryName(entry.name)) await this.#unlink(entry.name)
      const [name = ''] = entry.name.split('.', 1)
      if (!BLOB_NAME.test(name) || this.#fileOf(name) !== entry.name) continue
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
  async write(name: string, record: Fields): Promise<void> {
    const text = this.#kind.text.format({ ...record, bootId: this.#bootId })
    try {
      await replaceFile(join(this.#folder, this.#fileOf(name)), text)
    } catch (error) {
      throw toDomainError(error)
    }
  }

  /** Changes a record that is there. The log says where that fails: then a restart forgets it. */
  async amend(name: string, change: Partial<Fields>): Promise<void> {
    try {
      const record = await this.#read(this.#fileOf(name))
      if (typeof record === 'object') await this.write(name, { ...record, ...change })
    } catch (error) {
      const reason = describeFailure(error)
      this.#logger.warn('Cannot amend the record of a staged upload', { ...reason })
    }
  }

  /** Removes the record of a blob. What cannot be removed now is dealt with at the next start. */
  async remove(name: string): Promise<void> {
    await this.#unlink(this.#fileOf(name))
  }

  #fileOf(name: string): string {
    return `${name}.${this.#kind.extension}`
  }

  async #read(fileName: string): Promise<Fields | 'unfinished' | 'unreadable'> {
    const path = join(this.#folder, fileName)
    try {
      const text = await readOwnFile(path)
      return text === undefined || isCutOff(text) ? 'unfinished' : this.#kind.text.parse(text)
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

/** The records of all uploads, by kind. */
export interface RecordFolders {
  readonly partial: UploadRecords<PartialRecord>
  readonly staged: UploadRecords<StagingRecord>
}

/** The records that one upload has. */
export class OwnRecords {
  readonly #folders: RecordFolders
  readonly #name: string
  readonly #source: UploadSource
  /** Whether there may be a record of what has come. */
  hasPartial = false
  /** Whether there may be a record of what waits. */
  hasStaged = false
  /** A record that is being written; nobody removes it before. */
  #writing: Promise<void> = Promise.resolve()

  constructor(folders: RecordFolders, name: string, source: UploadSource) {
    this.#folders = folders
    this.#name = name
    this.#source = source
  }

  /**
   * Describes what has come.
   *
   * @param length Bytes of the whole, where that is known.
   * @param synced Bytes that survive a power cut.
   * @throws {DomainError} `NO_SPACE`.
   */
  async writePartial(length: number | undefined, sequence: number, synced?: number): Promise<void> {
    const { deviceId, passwordHash, dataName = '', contentType, sha256, member } = this.#source
    const facts = { deviceId, dataName, contentType, length, sha256, member, synced, sequence }
    const credential = credentialOf(passwordHash)
    this.hasPartial = true
    this.#writing = this.#folders.partial.write(this.#name, { ...facts, credential })
    await this.#writing
  }

  /** Describes what waits from now on. @throws {DomainError} `NO_SPACE`. */
  async writeStaged(
    { deviceId, dataName, mediaType, member, knownAs, blob }: StagedUpload,
    more: Pick<StagingRecord, 'sequence' | 'stagedAt' | 'isResumable'>,
  ): Promise<void> {
    const { size, digests } = blob
    const facts = { deviceId, dataName, mediaType, member, knownAs, size, ...digests, ...more }
    const credential = credentialOf(this.#source.passwordHash)
    await this.#folders.staged.write(this.#name, { ...facts, credential })
    this.hasStaged = true
  }

  /** Notes that what waits is known by its own hashes alone. */
  async bindStaged(): Promise<void> {
    this.#writing = this.#folders.staged.amend(this.#name, { knownAs: '' })
    await this.#writing
  }

  async removePartial(): Promise<void> {
    await this.#writing.catch(() => undefined)
    if (this.hasPartial) await this.#folders.partial.remove(this.#name)
    this.hasPartial = false
  }

  async remove(): Promise<void> {
    await this.removePartial()
    if (this.hasStaged) await this.#folders.staged.remove(this.#name)
  }
}

/** Whether a power cut has left this of a record: nothing, some sectors of it, or zeros. */
function isCutOff(text: string): boolean {
  if (text.includes('\0')) return true
  return !text.endsWith('\n') && Buffer.byteLength(text) % SECTOR_BYTES === 0
}
