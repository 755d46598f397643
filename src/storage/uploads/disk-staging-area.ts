/** All uploads: where each is found, and when one is given up. @module */

import type { Item } from '../../core/item.ts'
import type { Clock } from '../../lib/clock.ts'
import { Subscribers } from '../../lib/subscribers.ts'
import type { DeviceRegistry } from '../../ports/device-registry.ts'
import type { LatestItem } from '../../ports/latest-item.ts'
import type { Logger } from '../../ports/logger.ts'
import type {
  PartialUpload,
  ReceivedUpload,
  StagedUpload,
  StagingArea,
  TakenUpload,
  UploadSource,
} from '../../ports/staging-area.ts'
import type { DiskBlobStore } from '../blobs/disk-blob-store.ts'
import type { DiskSpace } from '../home/disk-space.ts'
import { uploadTooLarge } from '../blobs/growing-blob.ts'
import { loadUploads } from './load-uploads.ts'
import { closed, expired, shutOut, tooMany } from './reasons.ts'
import { sizeOf, StagingRoom } from './staging-room.ts'
import { PARTIAL, STAGED, UploadRecords } from './upload-records.ts'
import { Upload, type UploadDeps } from './upload.ts'

/** Files that stay open, with their hashing, while no bytes come; each takes a descriptor. */
const MAX_OPEN = 32

interface DiskStagingAreaOptions {
  /** The folder of the records, which exists and is ours alone. */
  readonly folder: string
  readonly blobs: Pick<DiskBlobStore, 'restore' | 'begin' | 'resume'>
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
  readonly latest: Pick<LatestItem, 'current'>
  /** The devices whose uploads count. Without it everybody's do. */
  readonly devices?: Pick<DeviceRegistry, 'find' | 'isValid' | 'list'> | undefined
}

/** The staging area of a daemon, in its data directory. */
export class DiskStagingArea implements StagingArea {
  readonly #options: DiskStagingAreaOptions
  readonly #room: StagingRoom
  readonly #deps: UploadDeps
  /** Oldest first; one that is staged is as young as one that begins. */
  readonly #uploads = new Set<Upload>()
  /** Those whose files are open although nobody writes; the one that rests longest comes first. */
  readonly #open = new Set<Upload>()
  readonly #watchers = new Subscribers()
  #sequence = 0
  #unreadable: readonly string[] = []
  #cancelExpiry: (() => void) | undefined
  #isClosed = false

  private constructor(options: DiskStagingAreaOptions) {
    this.#options = options
    const { folder, logger, quotaBytes, space } = options
    this.#room = new StagingRoom({ quotaBytes, space, uploads: this.#uploads })
    this.#deps = {
      ...options,
      records: {
        partial: new UploadRecords(folder, logger, PARTIAL),
        staged: new UploadRecords(folder, logger, STAGED),
      },
      openRoom: (upload) => this.#room.open(upload),
      number: (upload) => this.#number(upload),
      place: (upload) => this.#place(upload),
      onState: (upload, before) => this.#onState(upload, before),
    }
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
    return [...[...this.#uploads].map(({ token }) => token), ...this.#unreadable]
  }

  /** The number of uploads that wait, and of their bytes. */
  stats(): { readonly uploads: number; readonly bytes: number } {
    const uploads = [...this.#uploads].filter(isWaiting)
    return { uploads: uploads.length, bytes: sizeOf(uploads) }
  }

  /** Calls `listener` when {@link stats} returns something else. @returns Ends the subscription. */
  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  async admit(source: UploadSource): Promise<void> {
    this.#checkBatch(source)
    await this.#room.admit(source)
  }

  async receive(source: UploadSource, bytes: AsyncIterable<Uint8Array>): Promise<ReceivedUpload> {
    const { maxFileBytes } = this.#options
    if ((source.declaredSize ?? 0) > maxFileBytes) throw uploadTooLarge(maxFileBytes)
    return this.#add(source, false).receive(bytes)
  }

  async begin(source: UploadSource): Promise<PartialUpload> {
    const upload = this.#add(source, true)
    try {
      await this.admit(source)
      await upload.begin()
    } catch (error) {
      await upload.discard()
      throw error
    }
    this.#scheduleExpiry()
    const own = this.#of(source.deviceId).filter(({ isRemembered }) => isRemembered)
    const { maxPerDevice } = this.#options
    const complete = own.filter(({ isComplete }) => isComplete).slice(0, -maxPerDevice)
    const open = own.filter(({ isComplete }) => !isComplete).slice(0, -maxPerDevice)
    for (const oldest of complete) oldest.forget()
    for (const oldest of open) await oldest.end(tooMany())
    return upload
  }

  find(deviceId: string, token: string): PartialUpload | undefined {
    const upload = this.#of(deviceId).find((one) => one.isRemembered && one.token === token)
    return upload !== undefined && upload.remainingMs > 0 ? upload : undefined
  }

  staged(deviceId: string, dataName: string): StagedUpload | undefined {
    return this.#waitingAs(deviceId, dataName)?.staged
  }

  async bind(
    deviceId: string,
    dataName?: string,
    current?: Pick<Item, 'activatedAt' | 'contentId'>,
  ): Promise<void> {
    // One that still comes may be what a newer one was begun for.
    const all = dataName === undefined ? this.#waitingOf(deviceId) : this.#of(deviceId)
    const older = all.filter((one) => {
      const isNamed = one.member === undefined && (dataName ?? one.dataName) === one.dataName
      // No clock tells that: it may have been set since.
      return isNamed && (current === undefined || one.begunIn !== keyOf(current))
    })
    await Promise.all(older.map((upload) => upload.bind()))
  }

  take(deviceId: string, dataName: string): TakenUpload | undefined {
    return this.#waitingAs(deviceId, dataName)?.take()
  }

  takeBatch(
    deviceId: string,
    batch: string,
    numbers: readonly number[],
  ): readonly TakenUpload[] | undefined {
    const members = this.#waitingOf(deviceId).filter(({ member }) => member?.batch === batch)
    const byNumber = new Map(members.map((upload) => [upload.member?.number, upload]))
    const uploads = numbers.map((number) => byNumber.get(number)).filter((one) => one !== undefined)
    const [first] = uploads
    if (uploads.length < numbers.length || this.#isExpired(first)) return undefined
    if (first === undefined) return []
    const taken = uploads.map((upload) => upload.take())
    // Nobody will ask for what was cancelled.
    for (const other of members.filter(isWaiting)) void other.discard()
    return taken
  }

  async drop(deviceId: string): Promise<void> {
    const ended = this.#of(deviceId).map((upload) => {
      upload.forget()
      return upload.end(shutOut())
    })
    await Promise.all(ended)
  }

  /** Ends the timer and what is under way; what is staged or has come stays. Takes no more. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelExpiry?.()
    const closing = [...this.#uploads].map((upload) => {
      upload.isClosed = true
      return upload.close()
    })
    await Promise.all(closing)
  }

  #add(source: UploadSource, isResumable: boolean): Upload {
    if (this.#isClosed) throw closed()
    if (this.#options.devices?.isValid(source) === false) throw shutOut()
    const begunIn = keyOf(this.#options.latest.current?.item)
    const upload = new Upload(this.#deps, source, { isResumable, begunIn })
    this.#uploads.add(upload)
    return upload
  }

  /** The uploads of a device, oldest first. */
  #of(deviceId: string): readonly Upload[] {
    return [...this.#uploads].filter(({ source }) => source.deviceId === deviceId)
  }

  #waitingOf(deviceId: string): readonly Upload[] {
    return this.#of(deviceId).filter(isWaiting)
  }

  #waitingAs(deviceId: string, dataName: string): Upload | undefined {
    const upload = this.#waitingOf(deviceId).find((one) => {
      return one.member === undefined && one.dataName === dataName
    })
    return this.#isExpired(upload) ? undefined : upload
  }

  /** The upload that waits in the place of another one. */
  #waitingAt(upload: Upload): Upload | undefined {
    return this.#waitingOf(upload.source.deviceId).find((other) => {
      return other !== upload && placeOf(other) === placeOf(upload)
    })
  }

  #number(upload: Upload): number {
    this.#uploads.delete(upload)
    this.#uploads.add(upload)
    this.#sequence += 1
    return this.#sequence - 1
  }

  /** Lets an upload wait, in the place of an earlier one of its name, or of the device's oldest. */
  async #place(upload: Upload): Promise<void> {
    const other = this.#waitingAt(upload)
    if (other !== undefined && other.sequence > upload.sequence) {
      other.replace(upload)
      return upload.discard()
    }
    if (other !== undefined) upload.replace(other)
    const replaced = other?.discard()
    upload.wait()
    this.#scheduleExpiry()
    await replaced
    await this.#keepLimits(upload.source.deviceId)
  }

  /** Drops those under a device's oldest names, and the batches that got nothing for longest. */
  async #keepLimits(deviceId: string): Promise<void> {
    const { maxPerDevice, maxBatchesPerDevice } = this.#options
    const named: Upload[] = []
    const batches = new Map<string, Upload[]>()
    for (const upload of this.#waitingOf(deviceId)) {
      const batch = upload.member?.batch
      const group = batch === undefined ? named : (batches.get(batch) ?? [])
      group.push(upload)
      if (batch === undefined) continue
      batches.delete(batch)
      batches.set(batch, group)
    }
    const oldBatches = [...batches.values()].slice(0, -maxBatchesPerDevice)
    const tooMuch = [...named.slice(0, -maxPerDevice), ...oldBatches.flat()]
    for (const oldest of tooMuch) await oldest.discard()
  }

  /**
   * Together, the uploads of a batch may have no more bytes than one file.
   *
   * @throws {DomainError} `UPLOAD_TOO_LARGE`.
   */
  #checkBatch({ deviceId, member, declaredSize = 0 }: UploadSource): void {
    if (member === undefined) return
    const { maxFileBytes } = this.#options
    const others = this.#waitingOf(deviceId).filter(({ member: other }) => {
      return other?.batch === member.batch && other.number !== member.number
    })
    if (sizeOf(others) + declaredSize > maxFileBytes) throw uploadTooLarge(maxFileBytes)
  }

  #onState(upload: Upload, before: Upload['state']): void {
    const { state } = upload
    this.#open.delete(upload)
    if (state === 'resting') this.#rest(upload)
    if (state === 'gone' && !upload.isRemembered) this.#uploads.delete(upload)
    if (state !== before && (state === 'waiting' || before === 'waiting')) this.#watchers.notify()
  }

  #rest(upload: Upload): void {
    this.#open.add(upload)
    const [first] = this.#open
    if (this.#open.size <= MAX_OPEN || first === undefined) return
    this.#open.delete(first)
    if (!first.isHeld) first.closeFile()
  }

  /**
   * The milliseconds that uploads have left. The first of a batch waits until the last one of it
   * has come.
   */
  #remaining(): ReadonlyMap<Upload, number> {
    const uploads = [...this.#uploads]
    const ofBatch = new Map<string, number>()
    for (const upload of uploads) {
      if (upload.member === undefined || !['waiting', 'coming', 'resting'].includes(upload.state)) {
        continue
      }
      const batch = batchOf(upload)
      ofBatch.set(batch, Math.max(upload.remainingMs, ofBatch.get(batch) ?? 0))
    }
    const left = (upload: Upload): number => {
      const { remainingMs } = upload
      return isWaiting(upload) ? (ofBatch.get(batchOf(upload)) ?? remainingMs) : remainingMs
    }
    const expiring = uploads.filter((upload) => isWaiting(upload) || upload.isRemembered)
    return new Map(expiring.map((upload) => [upload, left(upload)]))
  }

  #isExpired(upload: Upload | undefined): boolean {
    return upload !== undefined && (this.#remaining().get(upload) ?? 0) <= 0
  }

  #scheduleExpiry(): void {
    const left = this.#remaining()
    if (this.#isClosed || this.#cancelExpiry !== undefined || left.size === 0) return
    const delayMs = [...left.values()].reduce((least, ms) => Math.min(least, ms), Infinity)
    this.#cancelExpiry = this.#options.clock.after(Math.max(0, delayMs), () => {
      this.#cancelExpiry = undefined
      for (const [upload, ms] of this.#remaining()) if (ms <= 0) expire(upload)
      this.#scheduleExpiry()
    })
  }

  async #load(): Promise<void> {
    const { uploads, unreadable } = await loadUploads({ ...this.#options, deps: this.#deps })
    this.#unreadable = unreadable
    for (const upload of uploads) {
      this.#uploads.add(upload)
      this.#sequence = Math.max(this.#sequence, upload.sequence + 1)
      // A crash may come before the upload that this one replaced was removed.
      if (isWaiting(upload)) await this.#waitingAt(upload)?.discard()
    }
    // Whether one of a batch has expired depends on all of it.
    for (const [upload, ms] of this.#remaining()) {
      if (ms > 0) continue
      upload.forget()
      await upload.discard()
    }
    const senders = new Set(uploads.map(({ source }) => source.deviceId))
    for (const deviceId of senders) await this.#keepLimits(deviceId)
    this.#scheduleExpiry()
  }
}

function keyOf(item: Parameters<DiskStagingArea['bind']>[2]): string {
  return `${item?.activatedAt} ${item?.contentId}`
}

function isWaiting({ state }: Upload): boolean {
  return state === 'waiting'
}

function batchOf({ source, member }: Upload): string {
  return `${source.deviceId} ${member?.batch}`
}

function placeOf({ dataName, member }: Upload): string {
  return member === undefined ? `/${dataName}` : `${member.batch} ${member.number}`
}

/** Gives up an upload of which nothing came for too long, unless somebody has it in hand. */
function expire(upload: Upload): void {
  const { state } = upload
  upload.forget()
  if (state === 'waiting' || state === 'resting') void upload.end(expired())
}
