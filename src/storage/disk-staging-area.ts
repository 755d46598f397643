/**
 * Staged uploads: blobs, and a small record beside the others in `staging/` for each.
 *
 * A record is written when its blob is complete, so an upload survives a restart, and one that was
 * interrupted leaves nothing but a blob that nobody refers to.
 *
 * @module
 */

import type { DeviceRegistry } from '../ports/device-registry.ts'
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
import { dropped, PendingUploads, type PendingUpload } from './pending-uploads.ts'
import { restoreStaged, type RestoreOptions } from './restore-staged.ts'
import { StagedFiles } from './staged-files.ts'
import { credentialOf } from './staging-record.ts'
import { StagingRoom } from './staging-room.ts'
import type { Expected, UploadUnderWay } from './upload-under-way.ts'
import { sizeOf, WaitingUploads, type WaitingUpload } from './waiting-uploads.ts'

export interface DiskStagingAreaOptions extends RestoreOptions {
  /** The folder of the records, which exists and is ours alone. */
  readonly folder: string
  readonly blobs: DiskBlobStore
  readonly space: DiskSpace
  readonly logger: Logger
  readonly maxFileBytes: number
  readonly quotaBytes: number
  readonly maxPerDevice: number
  readonly devices?: Pick<DeviceRegistry, 'find' | 'isValid' | 'list'> | undefined
}

export class DiskStagingArea implements StagingArea {
  readonly #options: DiskStagingAreaOptions
  readonly #files: StagedFiles
  readonly #room: StagingRoom
  readonly #waiting: WaitingUploads
  readonly #pending = new PendingUploads()
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
    const pending = this.#pending.begin(deviceId)
    const giveBack = async (): Promise<void> => {
      const isUnwanted = pending.isDropped || this.#waiting.has(upload)
      await (isUnwanted ? this.#discard(upload) : this.#add(upload))
    }
    return {
      ...upload,
      release: () => pending.endAfter(this.#forget(upload)),
      discard: () => pending.endAfter(this.#discard(upload)),
      giveBack: () => void pending.endAfter(giveBack()),
    }
  }

  async drop(deviceId: string): Promise<void> {
    const ended = this.#pending.drop(deviceId)
    const uploads = this.#waiting.of(deviceId)
    for (const upload of uploads) this.#waiting.remove(upload)
    for (const upload of uploads) await this.#discard(upload)
    await ended
  }

  /** Ends the timer; what is staged stays. */
  close(): void {
    this.#waiting.close()
  }

  async #receive(expected: Expected, bytes: AsyncIterable<Uint8Array>): Promise<ReceivedUpload> {
    const { deviceId, declaredSize } = expected
    const { blobs, maxFileBytes, devices } = this.#options
    if (devices?.isValid(expected) === false) throw dropped()
    const pending = this.#pending.begin(deviceId)
    try {
      const upload = await this.#room.begin(expected)
      try {
        const limits = { declaredSize, maxBytes: maxFileBytes }
        const blob = await blobs.receive(upload.guard(bytes), limits, upload)
        await upload.complete(blob)
        return this.#received(upload, blob, pending)
      } catch (error) {
        upload.release()
        throw error
      }
    } catch (error) {
      pending.end()
      throw error
    }
  }

  #received(upload: UploadUnderWay, blob: DiskBlob, pending: PendingUpload): ReceivedUpload {
    return {
      blob,
      keep: () => upload.keep(),
      stage: (name) => pending.endAfter(this.#stage(upload, name, blob, pending)),
      release: () => {
        upload.release()
        pending.end()
      },
      discard: () => pending.endAfter(upload.discard()),
    }
  }

  /** Writes the record of a complete upload; from then on it survives a restart. */
  async #stage(
    upload: UploadUnderWay,
    { dataName, mediaType }: UploadName,
    blob: DiskBlob,
    pending: PendingUpload,
  ): Promise<StagedUpload> {
    const { clock, ttlMs } = this.#options
    const { deviceId, passwordHash } = upload.expected
    const { source, size, digests } = blob
    if (source.kind !== 'own') throw new TypeError('Cannot stage a file of the user')
    const { name } = source
    const header = { deviceId, dataName, mediaType, sequence: this.#sequence++ }
    try {
      upload.keep()
      pending.check()
      const credential = credentialOf(passwordHash)
      const record = { ...header, credential, size, ...digests, stagedAt: clock.now() }
      await this.#files.write({ name, record })
    } catch (error) {
      await upload.discard()
      throw error
    }
    // Counted in its own right from now on.
    this.#room.add(deviceId, size)
    upload.release()
    const staged = { ...header, blob, name, expiresAt: clock.monotonic() + ttlMs }
    // The device may have been dropped while the record was written.
    if (pending.isDropped) await this.#discard(staged)
    pending.check()
    await this.#add(staged)
    return staged
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
    const { uploads, unreadable } = await restoreStaged(this.#files, this.#options)
    this.#unreadable = unreadable
    for (const upload of uploads) {
      this.#sequence = upload.sequence + 1
      this.#room.add(upload.deviceId, upload.blob.size)
      if (this.#waiting.isExpired(upload)) await this.#discard(upload)
      else await this.#add(upload)
    }
  }
}
