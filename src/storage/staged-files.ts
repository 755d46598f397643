/**
 * The records of staged uploads on disk. The record `<name>.json` is about the blob `<name>`.
 *
 * @module
 */

import { readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { isTemporaryName, replaceFile } from '../lib/atomic-file.ts'
import { codeOf } from '../lib/system-error.ts'
import type { Logger } from '../ports/logger.ts'
import { toDomainError } from './disk-errors.ts'
import { readOwnFile } from './own-files.ts'
import { readBootId } from './process-identity.ts'
import { NewerVersionError } from './record-fields.ts'
import { formatStagingRecord, parseStagingRecord, type StagingRecord } from './staging-record.ts'

/** What a disk writes as a whole, or not at all. */
const SECTOR_BYTES = 512

const RECORD_NAME = /^([0-9a-f]{32})\.json$/

/** A record and the name of its blob. */
export interface NamedRecord {
  readonly name: string
  readonly record: StagingRecord
}

/** A record from before the start. */
export interface FoundRecord extends NamedRecord {
  /** Whether nobody waited for the disk, and the power may have been cut since. */
  readonly mayBeTorn: boolean
}

/** What was found at the start. */
export interface FoundRecords {
  readonly records: readonly FoundRecord[]
  /** Names of blobs whose records cannot be read; both are left as they are. */
  readonly unreadable: readonly string[]
}

export class StagedFiles {
  readonly #folder: string
  readonly #logger: Logger
  #bootId: string | undefined = undefined

  constructor(folder: string, logger: Logger) {
    this.#folder = folder
    this.#logger = logger
  }

  /**
   * Reads all records, and removes those that were never finished.
   *
   * @throws {DomainError} `DATA_DIRECTORY_UNUSABLE` when one belongs to somebody else.
   */
  async load(): Promise<FoundRecords> {
    const records: FoundRecord[] = []
    const unreadable: string[] = []
    this.#bootId = await readBootId()
    for (const entry of await readdir(this.#folder, { withFileTypes: true })) {
      const [, name] = RECORD_NAME.exec(entry.name) ?? []
      if (!entry.isFile()) continue
      if (isTemporaryName(entry.name)) await this.#removeFile(entry.name)
      if (name === undefined) continue
      const record = await this.#read(entry.name)
      if (record === 'unreadable') unreadable.push(name)
      else if (record === 'unfinished') await this.#removeFile(entry.name)
      else records.push({ name, record, mayBeTorn: !this.#isOfThisBoot(record) })
    }
    return { records, unreadable }
  }

  /**
   * Files a record. It survives the death of this program, and not a power cut: nor do the bytes.
   *
   * @throws {DomainError} `NO_SPACE`.
   */
  async write({ name, record }: NamedRecord): Promise<void> {
    const text = formatStagingRecord({ ...record, bootId: this.#bootId })
    try {
      await replaceFile(join(this.#folder, `${name}.json`), text)
    } catch (error) {
      throw toDomainError(error, 'Cannot keep the upload')
    }
  }

  /** Removes the record of a blob. What cannot be removed now is dealt with at the next start. */
  async remove(name: string): Promise<void> {
    await this.#removeFile(`${name}.json`)
  }

  async #read(fileName: string): Promise<StagingRecord | 'unfinished' | 'unreadable'> {
    const path = join(this.#folder, fileName)
    try {
      const text = await readOwnFile(path)
      return text === undefined || isCutOff(text) ? 'unfinished' : parseStagingRecord(text)
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
      const isNewer = error instanceof NewerVersionError
      const remedy = isNewer
        ? 'left as it is; run the newer version of clipgate that wrote it'
        : 'left as it is; remove it when it is not needed'
      this.#logger.warn('Cannot read the record of a staged upload', { path, remedy })
      return 'unreadable'
    }
  }

  #isOfThisBoot({ bootId }: StagingRecord): boolean {
    return bootId !== undefined && bootId === this.#bootId
  }

  async #removeFile(fileName: string): Promise<void> {
    await this.#unlink(join(this.#folder, fileName))
  }

  async #unlink(path: string): Promise<void> {
    try {
      await unlink(path)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ENOENT') return
      this.#logger.warn('Cannot remove the record of a staged upload', { path, code })
    }
  }
}

/**
 * Whether a power cut has left this of a record, since nobody waited for the disk: nothing, some
 * sectors of it, or zeros.
 */
function isCutOff(text: string): boolean {
  if (text.includes('\0')) return true
  return !text.endsWith('\n') && Buffer.byteLength(text) % SECTOR_BYTES === 0
}
