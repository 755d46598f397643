/** Staged uploads: blobs, and a record for each that is written when its blob is whole. @module */

import type { Clock } from '../lib/clock.ts'
import type { DeviceRegistry } from '../ports/device-registry.ts'
import type { Logger } from '../ports/logger.ts'
import type {
  PartialSource,
  PartialUpload,
  ReceivedUpload,
  StagedUpload,
  StagingArea,
  TakenUpload,
  UploadName,
  UploadSource,
} from '../ports/staging-area.ts'
import type { DiskBlobStore } from './disk-blob-store.ts'
import { uploadTooLarge } from './growing-blob.ts'
import type { DiskBlob } from './disk-blob.ts'
import type { DiskSpace } from './disk-space.ts'
import { PartialUploads } from './partial-uploads.ts'
import type { AfterStaging } from './disk-partial-upload.ts'
import { dropped, PendingUploads, type PendingUpload } from './pending-uploads.ts'
import {
  credentialOf,
  PARTIAL,
  STAGED,
  UploadRecords,
  type FoundRecord,
  type StagingRecord,
} from './staging-records.ts'
import { StagingRoom, type UploadUnderWay } from './staging-room.ts'
import { sizeOf, WaitingUploads, type WaitingUpload } from './waiting-uploads.ts'

interface DiskStagingAreaOptions {
  /** The folder of the records, which exists and is ours alone. */
  readonly folder: string
  readonly blobs: Pick<DiskBlobStore, 'receive' | 'restore' | 'begin' | 'resume'>
  readonly space: DiskSpace
  readonly clock: Clock
  readonly logger: Logger
  readonly maxFileBytes: number
  readonly ttlMs: number
  readonly quotaBytes: number
  readonly maxPerDevice: number
  readonly maxBatchesPerDevice: number
  /** Names of the blobs that belong to the item: their records are left-overs. */
  readonly takenBlobs: ReadonlySet<string>
  /** The devices whose uploads count. Without it everybody's do. */
  readonly devices?: Pick<DeviceRegistry, 'find' | 'isValid' | 'list'> | undefined
}

/** All bytes of an upload that is not staged yet. */
interface Whole {
  readonly blob: DiskBlob
  readonly pending: PendingUpload
  readonly after: AfterStaging
}

/** The staging area of a daemon, in its data directory. */
export class DiskStagingArea implements StagingArea {
  readonly #options: DiskStagingAreaOptions
  readonly #records: UploadRecords<StagingRecord>
  readonly #room: StagingRoom
  readonly #waiting: WaitingUploads
  readonly #pending = new PendingUploads()
  readonly #partial: PartialUploads
  #sequence = 0
  #unreadable: readonly string[] = []

  private constructor(options: DiskStagingAreaOptions) {
    this.#options = options
    const { folder, logger, devices } = options
    this.#records = new UploadRecords(folder, logger, STAGED)
    this.#waiting = new WaitingUploads(
      options.clock,
      (upload) => void this.#discard(upload),
      (upload) => this.#partial.comingUntil(upload),
    )
    this.#room = new StagingRoom({
      quotaBytes: options.quotaBytes,
      space: options.space,
      waiting: this.#waiting,
      drop: (upload) => this.#drop(upload),
    })
    this.#partial = new PartialUploads({
      ...options,
      records: new UploadRecords(folder, logger, PARTIAL),
      room: this.#room,
      devices,
      receive: (upload, blob, after) => {
        const pending = this.#pending.begin(upload.source.deviceId)
        return this.#received(upload, blob, pending, after)
      },
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

  /** Names of the blobs that must not be swept. */
  get blobNames(): readonly string[] {
    const waiting = this.#waiting.all.map(({ name }) => name)
    return [...waiting, ...this.#unreadable, ...this.#partial.blobNames]
  }

  /** The number of uploads that wait, and of their bytes. */
  stats(): { readonly uploads: number; readonly bytes: number } {
    const uploads = this.#waiting.all
    return { uploads: uploads.length, bytes: sizeOf(uploads) }
  }

  /** Calls `listener` when {@link stats} returns something else. @returns Ends the subscription. */
  onChange(listener: () => void): () => void {
    return this.#waiting.onChange(listener)
  }

  async admit(source: UploadSource): Promise<void> {
    this.#checkBatch(source)
    await this.#room.admit(source, source.declaredSize ?? 0)
  }

  async receive(source: UploadSource, bytes: AsyncIterable<Uint8Array>): Promise<ReceivedUpload> {
    const { blobs, maxFileBytes, devices } = this.#options
    const { deviceId, declaredSize } = source
    if (devices?.isValid(source) === false) throw dropped()
    const pending = this.#pending.begin(deviceId)
    const upload = this.#room.begin(source)
    try {
      const expected = { declaredSize, maxBytes: maxFileBytes }
      const blob = await blobs.receive(upload.guard(bytes), expected, upload)
      await upload.complete(blob)
      return this.#received(upload, blob, pending)
    } catch (error) {
      upload.release()
      pending.end()
      throw error
    }
  }

  async begin(source: PartialSource): Promise<PartialUpload> {
    this.#checkBatch({ ...source, declaredSize: source.length })
    return this.#pending.begin(source.deviceId).endAfter(this.#partial.begin(source))
  }

  find(deviceId: string, token: string): PartialUpload | undefined {
    return this.#partial.find(deviceId, token)
  }

  staged(deviceId: string, dataName: string): StagedUpload | undefined {
    return this.#waiting.find(deviceId, { dataName })
  }

  take(deviceId: string, dataName: string): TakenUpload | undefined {
    const upload = this.#waiting.find(deviceId, { dataName })
    return upload && this.#take(upload)
  }

  takeBatch(
    deviceId: string,
    batch: string,
    numbers: readonly number[],
  ): readonly TakenUpload[] | undefined {
    const places = numbers.map((number) => ({ member: { batch, number } }))
    const found = places.map((place) => this.#waiting.find(deviceId, place))
    const uploads = found.filter((upload) => upload !== undefined)
    if (uploads.length < found.length) return undefined
    const taken = uploads.map((upload) => this.#take(upload))
    const [place = { member: undefined }] = places
    // Nobody will ask for what was cancelled.
    for (const other of this.#waiting.batchOf({ deviceId, ...place })) {
      void this.#pending.begin(deviceId).endAfter(this.#drop(other))
    }
    return taken
  }

  #take(upload: WaitingUpload): TakenUpload {
    const { deviceId } = upload
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
    const ended = Promise.all([this.#pending.drop(deviceId), this.#partial.drop(deviceId)])
    const uploads = this.#waiting.of(deviceId)
    for (const upload of uploads) this.#waiting.remove(upload)
    for (const upload of uploads) await this.#discard(upload)
    await ended
  }

  /** Ends the timers and what is under way; what is staged or has come stays. */
  async close(): Promise<void> {
    this.#waiting.close()
    await this.#partial.close()
  }

  #received(
    upload: UploadUnderWay,
    blob: DiskBlob,
    pending: PendingUpload,
    after: AfterStaging = { failed: () => upload.discard() },
  ): ReceivedUpload {
    const stage = async (name: UploadName): Promise<StagedUpload> => {
      const staged = await this.#stage(upload, name, { blob, pending, after })
      await after.staged?.()
      return staged
    }
    return {
      blob,
      keep: () => upload.keep(),
      stage: (name) => pending.endAfter(stage(name)),
      release: async () => {
        upload.release()
        pending.end()
      },
      discard: () => pending.endAfter(upload.discard()),
    }
  }

  /** Writes the record of a complete upload; from then on it survives a restart. */
  async #stage(
    upload: UploadUnderWay,
    { dataName, mediaType, member }: UploadName,
    { blob, pending, after }: Whole,
  ): Promise<StagedUpload> {
    const { clock, ttlMs } = this.#options
    const { deviceId, passwordHash } = upload.source
    const { ownName: name, size, digests } = blob
    if (name === undefined) throw new Error('Cannot stage a file of the user')
    const header = { deviceId, dataName, mediaType, member, sequence: this.#sequence }
    this.#sequence += 1
    try {
      upload.keep()
      pending.check()
      const credential = credentialOf(passwordHash)
      const record = { ...header, credential, size, ...digests, stagedAt: clock.now() }
      await this.#records.write(name, record)
    } catch (error) {
      await after.failed(error)
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
    await this.#keepLimits(upload.deviceId)
  }

  async #keepLimits(deviceId: string): Promise<void> {
    const { maxPerDevice, maxBatchesPerDevice } = this.#options
    const tooMany = this.#waiting.beyond(deviceId, maxPerDevice, maxBatchesPerDevice)
    for (const oldest of tooMany) await this.#drop(oldest)
  }

  /**
   * Together, the uploads of a batch may have no more bytes than one file.
   *
   * @throws {DomainError} `UPLOAD_TOO_LARGE`.
   */
  #checkBatch({ deviceId, member, declaredSize = 0 }: UploadSource): void {
    if (member === undefined) return
    const { maxFileBytes } = this.#options
    const others = this.#waiting.batchOf({ deviceId, member }).filter((other) => {
      return other.member?.number !== member.number
    })
    if (sizeOf(others) + declaredSize > maxFileBytes) throw uploadTooLarge(maxFileBytes)
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
    await this.#records.remove(name)
  }

  async #load(): Promise<void> {
    const { records, unreadable } = await this.#records.load()
    this.#unreadable = unreadable
    const restored: WaitingUpload[] = []
    for (const found of records) {
      const upload = this.#counts(found) ? await this.#restore(found) : undefined
      if (upload === undefined) await this.#records.remove(found.name)
      else restored.push(upload)
    }
    for (const { deviceId, blob } of restored) this.#room.add(deviceId, blob.size)
    this.#sequence = (restored.at(-1)?.sequence ?? -1) + 1
    // A crash may come between the record of a staged upload and the removal of the other one.
    const names = new Set([...restored.map(({ name }) => name), ...unreadable])
    await this.#partial.load((name) => this.#options.takenBlobs.has(name) || names.has(name))
    // In one tick: whether one of a batch has expired depends on all of it.
    const replaced = restored.map((upload) => this.#waiting.add(upload))
    for (const upload of replaced) if (upload !== undefined) await this.#discard(upload)
    const expired = this.#waiting.all.filter((upload) => this.#waiting.isExpired(upload))
    for (const upload of expired) await this.#drop(upload)
    for (const deviceId of new Set(restored.map((upload) => upload.deviceId))) {
      await this.#keepLimits(deviceId)
    }
  }

  /**
   * Whether an upload from before the start still counts: its bytes did not become the item just
   * before a crash, and its device is paired, with the password that it had. Where there is no
   * device at all, somebody has put the file of devices aside, and may bring it back.
   */
  #counts({ name, record: { deviceId, credential } }: FoundRecord): boolean {
    const { takenBlobs, devices } = this.#options
    if (takenBlobs.has(name)) return false
    if (devices === undefined || devices.list().length === 0) return true
    const device = devices.find(deviceId)
    if (device === undefined) return false
    return credential === undefined || credential === credentialOf(device.passwordHash)
  }

  /** The upload of a record; `undefined` when its bytes were lost in a power cut. */
  async #restore({ name, record, mayBeTorn }: FoundRecord): Promise<WaitingUpload | undefined> {
    const { blobs, clock, ttlMs } = this.#options
    const { deviceId, dataName, mediaType, member, sequence } = record
    const { size, sha256, blake3, stagedAt } = record
    const blob = await blobs.restore(name, { size, digests: { sha256, blake3 }, mayBeTorn })
    if (blob === undefined) return undefined
    // A clock that was set back must not make anything younger than new.
    const age = Math.max(0, clock.now() - stagedAt)
    const expiresAt = clock.monotonic() + ttlMs - age
    return { deviceId, dataName, mediaType, member, sequence, blob, name, expiresAt }
  }
}
