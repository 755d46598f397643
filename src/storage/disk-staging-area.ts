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
import type { StagedUpload, StagingArea, TakenUpload, UploadHeader } from '../ports/staging-area.ts'
import type { DiskBlobStore } from './disk-blob-store.ts'
import type { DiskBlob } from './disk-blob.ts'
import type { DiskSpace } from './disk-space.ts'
import { tooLarge } from './receive-stream.ts'
import { StagedFiles, type NamedRecord } from './staged-files.ts'
import { noRoom, StagingQuota } from './staging-quota.ts'

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

interface Entry extends StagedUpload {
  readonly blob: DiskBlob
  /** Of its record and its blob. */
  readonly name: string
  /** Later uploads have greater ones. */
  readonly sequence: number
  /** On the monotonic clock: nothing expires because somebody sets the time. */
  readonly expiresAt: number
}

/** Timers know no longer delays; an earlier one only looks, and waits again. */
const MAX_DELAY_MS = 2_147_483_647

export class DiskStagingArea implements StagingArea {
  readonly #options: DiskStagingAreaOptions
  readonly #files: StagedFiles
  readonly #quota: StagingQuota
  readonly #uploads = new Map<string, Entry>()
  #sequence = 0
  #unreadable: readonly string[] = []
  #cancelExpiry: (() => void) | undefined

  private constructor(options: DiskStagingAreaOptions) {
    this.#options = options
    this.#files = new StagedFiles(options.folder, options.logger)
    this.#quota = new StagingQuota(options.quotaBytes)
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
    return [...[...this.#uploads.values()].map(({ name }) => name), ...this.#unreadable]
  }

  /** What waits. */
  stats(): { readonly uploads: number; readonly bytes: number } {
    return { uploads: this.#uploads.size, bytes: sizeOf([...this.#uploads.values()]) }
  }

  async admit(header: Pick<UploadHeader, 'deviceId' | 'declaredSize'>): Promise<void> {
    const { deviceId, declaredSize = 0 } = header
    const { maxFileBytes, space } = this.#options
    if (declaredSize > maxFileBytes) throw tooLarge(maxFileBytes)
    if (this.#quota.missing(declaredSize) > sizeOf(this.#uploadsOf(deviceId))) throw noRoom()
    await space.check(declaredSize)
  }

  async stage(header: UploadHeader, bytes: AsyncIterable<Uint8Array>): Promise<StagedUpload> {
    const { declaredSize } = header
    const { blobs, maxFileBytes } = this.#options
    const makeRoom = (missing: number): Promise<void> => this.#makeRoom(header, missing)
    const allowance = await this.#quota.allow(declaredSize ?? 0, makeRoom)
    try {
      const blob = await blobs.receive(bytes, { declaredSize, maxBytes: maxFileBytes }, allowance)
      const entry = await this.#file(header, blob)
      // Counted in its own right now.
      allowance.release()
      await this.#add(entry)
      return entry
    } finally {
      allowance.release()
    }
  }

  take(deviceId: string, dataName: string): TakenUpload | undefined {
    const key = keyOf(deviceId, dataName)
    const entry = this.#uploads.get(key)
    if (entry === undefined || this.#isExpired(entry)) return undefined
    this.#uploads.delete(key)
    return {
      ...entry,
      release: () => this.#forget(entry),
      discard: () => this.#discard(entry),
      giveBack: () => {
        if (this.#uploads.has(key)) void this.#discard(entry)
        else void this.#add(entry)
      },
    }
  }

  /** Ends the timer; what is staged stays. */
  close(): void {
    this.#cancelExpiry?.()
  }

  /** Writes the record of a complete upload; from then on it survives a restart. */
  async #file({ deviceId, dataName, mediaType }: UploadHeader, blob: DiskBlob): Promise<Entry> {
    const { clock, ttlMs } = this.#options
    const { source, size, digests } = blob
    if (source.kind !== 'own') throw new TypeError('Cannot stage a file of the user')
    const { name } = source
    const sequence = this.#sequence++
    const header = { deviceId, dataName, mediaType, sequence }
    try {
      const record = { ...header, size, ...digests, stagedAt: clock.now() }
      await this.#files.write({ name, record })
    } catch (error) {
      await blob.discard()
      throw error
    }
    this.#quota.add(size)
    return { ...header, blob, name, expiresAt: clock.monotonic() + ttlMs }
  }

  /** Lets an upload wait, in the place of an earlier one of its name, or of the device's oldest. */
  async #add(entry: Entry): Promise<void> {
    const { deviceId, dataName } = entry
    const key = keyOf(deviceId, dataName)
    const replaced = this.#uploads.get(key)
    this.#uploads.set(key, entry)
    this.#scheduleExpiry()
    if (replaced !== undefined) await this.#discard(replaced)
    const tooMany = this.#uploadsOf(deviceId).slice(0, -this.#options.maxPerDevice)
    for (const oldest of tooMany) await this.#drop(oldest)
  }

  /** Oldest first. */
  #uploadsOf(deviceId: string): readonly Entry[] {
    return [...this.#uploads.values()]
      .filter((entry) => entry.deviceId === deviceId)
      .sort((a, b) => a.sequence - b.sequence)
  }

  async #makeRoom({ deviceId, dataName }: UploadHeader, missing: number): Promise<void> {
    const uploads = this.#uploadsOf(deviceId)
    if (missing > sizeOf(uploads)) throw noRoom()
    // The upload that will be replaced goes last: until then the new one may fail.
    const others = uploads.filter((entry) => entry.dataName !== dataName)
    const replaced = uploads.filter((entry) => entry.dataName === dataName)
    let left = missing
    for (const entry of [...others, ...replaced]) {
      if (left <= 0) return
      left -= entry.blob.size
      await this.#drop(entry)
    }
  }

  /** Removes an upload that waits, unless somebody was faster. */
  async #drop(entry: Entry): Promise<void> {
    const key = keyOf(entry.deviceId, entry.dataName)
    if (this.#uploads.get(key) !== entry) return
    this.#uploads.delete(key)
    await this.#discard(entry)
  }

  async #discard(entry: Entry): Promise<void> {
    await this.#forget(entry)
    await entry.blob.discard()
  }

  async #forget({ name, blob }: Entry): Promise<void> {
    this.#quota.remove(blob.size)
    await this.#files.remove(name)
  }

  #isExpired({ expiresAt }: Entry): boolean {
    return expiresAt <= this.#options.clock.monotonic()
  }

  #scheduleExpiry(): void {
    if (this.#cancelExpiry !== undefined || this.#uploads.size === 0) return
    const { clock } = this.#options
    const next = Math.min(...[...this.#uploads.values()].map(({ expiresAt }) => expiresAt))
    const delayMs = Math.min(Math.max(0, next - clock.monotonic()), MAX_DELAY_MS)
    this.#cancelExpiry = clock.after(delayMs, () => {
      this.#cancelExpiry = undefined
      for (const entry of this.#uploads.values()) if (this.#isExpired(entry)) void this.#drop(entry)
      this.#scheduleExpiry()
    })
  }

  async #load(): Promise<void> {
    const { takenBlob } = this.#options
    const { records, unreadable } = await this.#files.load()
    this.#unreadable = unreadable
    for (const found of records.toSorted((a, b) => a.record.sequence - b.record.sequence)) {
      this.#sequence = found.record.sequence + 1
      const entry = found.name === takenBlob ? undefined : await this.#restore(found)
      // Its bytes were lost in a power cut, or became the item just before a crash.
      if (entry === undefined) await this.#files.remove(found.name)
      else if (this.#isExpired(entry)) await this.#discard(entry)
      else await this.#add(entry)
    }
  }

  async #restore({ name, record }: NamedRecord): Promise<Entry | undefined> {
    const { blobs, clock, ttlMs } = this.#options
    const { size, sha256, blake3, stagedAt, ...header } = record
    const blob = await blobs.restore(name, { size, digests: { sha256, blake3 } })
    if (blob === undefined) return undefined
    this.#quota.add(size)
    // A clock that was set back must not make anything younger than new.
    const age = Math.max(0, clock.now() - stagedAt)
    return { ...header, blob, name, expiresAt: clock.monotonic() + ttlMs - age }
  }
}

function keyOf(deviceId: string, dataName: string): string {
  return JSON.stringify([deviceId, dataName])
}

function sizeOf(uploads: readonly Entry[]): number {
  return uploads.reduce((sum, { blob }) => sum + blob.size, 0)
}
