/**
 * Staged uploads: blobs, and a small record beside the others in `staging/` for each.
 *
 * A record is written when its blob is complete, so an upload survives a restart, and one that was
 * interrupted leaves nothing but a blob that nobody refers to.
 *
 * @module
 */

import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type {
  ReceivedUpload,
  StagedUpload,
  StagingArea,
  TakenUpload,
  UploadHeader,
  UploadName,
  UploadSource,
} from '../ports/staging-area.ts'
import type { DiskBlobStore } from './disk-blob-store.ts'
import type { DiskBlob } from './disk-blob.ts'
import type { DiskSpace } from './disk-space.ts'
import { tooLarge } from './receive-stream.ts'
import { StagedFiles, type FoundRecord } from './staged-files.ts'
import { StagingRoom } from './staging-room.ts'
import type { Expected } from './upload-under-way.ts'
import { sizeOf, WaitingUploads, type WaitingUpload } from './waiting-uploads.ts'

export interface DiskStagingAreaOptions {
  /** The folder of the records, which exists and is ours alone. */
  readonly folder: string
  readonly blobs: DiskBlobStore
  readonly space: DiskSpace
  readonly clock: Clock
  readonly logger: Logger
  readonly maxFileBytes: number
  readonly ttlMs: number
  readonly quotaBytes: number
  readonly maxPerDevice: number
  /** The blob of this name belongs to the item: its record is a left-over. */
  readonly takenBlob: string | undefined
}

export class DiskStagingArea implements StagingArea {
  readonly #options: DiskStagingAreaOptions
  readonly #files: StagedFiles
  readonly #room: StagingRoom
  readonly #waiting: WaitingUploads
  #sequence = 0
  #unreadable: readonly string[] = []

  private constructor(options: DiskStagingAreaOptions) {
    this.#options = options
    this.#files = new StagedFiles(options.folder, options.logger)
    this.#waiting = new WaitingUploads(options.clock, (upload) => void this.#discard(upload))
    this.#room = new StagingRoom({
      quotaBytes: options.quotaBytes,
      space: options.space,
      waiting: this.#waiting,
      drop: (upload) => this.#drop(upload),
    })
  }

  /**
   * Loads what was staged before a restart. Records that cannot be read are named in the log and
   * left as they are.
   *
   * @throws {DomainError} `DATA_DIRECTORY_UNUSABLE`.
   */
  static async open(options: DiskStagingAreaOptions): Promise<DiskStagingArea> {
    const area = new DiskStagingArea(options)
    await area.#load()
    return area
  }

  /** Names of the blobs that are not to be swept. */
  get blobNames(): readonly string[] {
    return [...this.#waiting.all.map(({ name }) => name), ...this.#unreadable]
  }

  /** What waits. */
  stats(): { readonly uploads: number; readonly bytes: number } {
    const uploads = this.#waiting.all
    return { uploads: uploads.length, bytes: sizeOf(uploads) }
  }

  /** Calls `listener` when {@link stats} tells something else. @returns Ends the subscription. */
  onChange(listener: () => void): () => void {
    return this.#waiting.onChange(listener)
  }

  async admit({ deviceId, declaredSize = 0 }: UploadSource): Promise<void> {
    const { maxFileBytes } = this.#options
    if (declaredSize > maxFileBytes) throw tooLarge(maxFileBytes)
    await this.#room.admit(deviceId, declaredSize)
  }

  receive(source: UploadSource, bytes: AsyncIterable<Uint8Array>): Promise<ReceivedUpload> {
    return this.#receive(source, bytes)
  }

  async stage(header: UploadHeader, bytes: AsyncIterable<Uint8Array>): Promise<StagedUpload> {
    const received = await this.#receive(header, bytes)
    return received.stage(header)
  }

  take(deviceId: string, dataName: string): TakenUpload | undefined {
    const upload = this.#waiting.find(deviceId, dataName)
    if (upload === undefined) return undefined
    this.#waiting.remove(upload)
    return {
      ...upload,
      release: () => this.#forget(upload),
      discard: () => this.#discard(upload),
      giveBack: () => {
        if (this.#waiting.has(upload)) void this.#discard(upload)
        else void this.#add(upload)
      },
    }
  }

  /** Ends the timer; what is staged stays. */
  close(): void {
    this.#waiting.close()
  }

  async #receive(
    expected: Expected,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<ReceivedUpload> {
    const { deviceId, declaredSize } = expected
    const { blobs, maxFileBytes } = this.#options
    const upload = await this.#room.begin(expected)
    try {
      const limits = { declaredSize, maxBytes: maxFileBytes }
      const blob = await blobs.receive(upload.guard(bytes), limits, upload)
      // Counted in its own right from now on.
      this.#room.add(deviceId, blob.size)
      return {
        blob,
        stage: (name) => this.#stage(deviceId, name, blob),
        release: () => this.#room.remove(deviceId, blob.size),
        discard: () => {
          this.#room.remove(deviceId, blob.size)
          return blob.discard()
        },
      }
    } finally {
      upload.release()
    }
  }

  /** Writes the record of a complete upload; from then on it survives a restart. */
  async #stage(
    deviceId: string,
    { dataName, mediaType }: UploadName,
    blob: DiskBlob,
  ): Promise<StagedUpload> {
    const { clock, ttlMs } = this.#options
    const { source, size, digests } = blob
    if (source.kind !== 'own') throw new TypeError('Cannot stage a file of the user')
    const { name } = source
    const header = { deviceId, dataName, mediaType, sequence: this.#sequence++ }
    try {
      const record = { ...header, size, ...digests, stagedAt: clock.now() }
      await this.#files.write({ name, record })
    } catch (error) {
      this.#room.remove(deviceId, size)
      await blob.discard()
      throw error
    }
    const upload = { ...header, blob, name, expiresAt: clock.monotonic() + ttlMs }
    await this.#add(upload)
    return upload
  }

  /** Lets an upload wait, in the place of an earlier one of its name, or of the device's oldest. */
  async #add(upload: WaitingUpload): Promise<void> {
    const replaced = this.#waiting.add(upload)
    if (replaced !== undefined) await this.#discard(replaced)
    const tooMany = this.#waiting.of(upload.deviceId).slice(0, -this.#options.maxPerDevice)
    for (const oldest of tooMany) await this.#drop(oldest)
  }

  /** Removes an upload that waits, unless somebody was faster. */
  async #drop(upload: WaitingUpload): Promise<void> {
    if (this.#waiting.remove(upload)) await this.#discard(upload)
  }

  async #discard(upload: WaitingUpload): Promise<void> {
    await this.#forget(upload)
    await upload.blob.discard()
  }

  async #forget({ deviceId, name, blob }: WaitingUpload): Promise<void> {
    this.#room.remove(deviceId, blob.size)
    await this.#files.remove(name)
  }

  async #load(): Promise<void> {
    const { takenBlob } = this.#options
    const { records, unreadable } = await this.#files.load()
    this.#unreadable = unreadable
    for (const found of records.toSorted((a, b) => a.record.sequence - b.record.sequence)) {
      this.#sequence = found.record.sequence + 1
      const upload = found.name === takenBlob ? undefined : await this.#restore(found)
      // Its bytes were lost in a power cut, or became the item just before a crash.
      if (upload === undefined) await this.#files.remove(found.name)
      else if (this.#waiting.isExpired(upload)) await this.#discard(upload)
      else await this.#add(upload)
    }
  }

  async #restore({ name, record, mayBeTorn }: FoundRecord): Promise<WaitingUpload | undefined> {
    const { blobs, clock, ttlMs } = this.#options
    const { size, sha256, blake3, stagedAt, bootId: _, ...header } = record
    const blob = await blobs.restore(name, { size, digests: { sha256, blake3 }, mayBeTorn })
    if (blob === undefined) return undefined
    this.#room.add(header.deviceId, size)
    // A clock that was set back must not make anything younger than new.
    const age = Math.max(0, clock.now() - stagedAt)
    return { ...header, blob, name, expiresAt: clock.monotonic() + ttlMs - age }
  }
}
