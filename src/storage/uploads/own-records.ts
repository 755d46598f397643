/** The records of one upload: of what has come, and of what waits. @module */

import type { StagedUpload, UploadSource } from '../../ports/staging-area.ts'
import {
  credentialOf,
  type PartialRecord,
  type StagingRecord,
  type UploadRecords,
} from './upload-records.ts'

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
  /** The record of what has come that is being written; nobody removes it before. */
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
    { deviceId, dataName, mediaType, member, blob }: StagedUpload,
    sequence: number,
    stagedAt: number,
  ): Promise<void> {
    const { size, digests } = blob
    const facts = { deviceId, dataName, mediaType, member, size, ...digests, stagedAt, sequence }
    const credential = credentialOf(this.#source.passwordHash)
    await this.#folders.staged.write(this.#name, { ...facts, credential })
    this.hasStaged = true
  }

  /** Removes the record of what has come. */
  async removePartial(): Promise<void> {
    await this.#writing.catch(() => undefined)
    if (this.hasPartial) await this.#folders.partial.remove(this.#name)
    this.hasPartial = false
  }

  /** Removes all. */
  async remove(): Promise<void> {
    await this.removePartial()
    if (this.hasStaged) await this.#folders.staged.remove(this.#name)
  }
}
