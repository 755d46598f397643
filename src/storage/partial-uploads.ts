/**
 * Uploads that come in several requests: a growing file for each, and a record that lets it survive
 * a restart. They count as uploads under way, also while no bytes come.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import type { Clock } from '../lib/clock.ts'
import type { DeviceRegistry } from '../ports/device-registry.ts'
import type { PartialSource, PartialUpload, ReceivedUpload } from '../ports/staging-area.ts'
import type { DiskBlobStore } from './disk-blob-store.ts'
import type { DiskBlob } from './disk-blob.ts'
import { DiskPartialUpload, type AfterStaging } from './disk-partial-upload.ts'
import { newBlobName } from './record-fields.ts'
import {
  credentialOf,
  type FoundRecord,
  type PartialRecord,
  type UploadRecords,
} from './staging-records.ts'
import type { StagingRoom, UploadUnderWay } from './staging-room.ts'
import { isSameBatch } from './waiting-uploads.ts'

/** Files that stay open, with their hashing, while no bytes come; each takes a descriptor. */
const MAX_OPEN = 32

interface PartialUploadsOptions {
  readonly records: UploadRecords<PartialRecord>
  readonly blobs: Pick<DiskBlobStore, 'begin' | 'resume'>
  readonly room: StagingRoom
  readonly clock: Clock
  readonly maxFileBytes: number
  readonly ttlMs: number
  readonly maxPerDevice: number
  readonly devices: Pick<DeviceRegistry, 'find' | 'isValid'> | undefined
  /** Hands over an upload that is whole. */
  readonly receive: (upload: UploadUnderWay, blob: DiskBlob, after: AfterStaging) => ReceivedUpload
}

/** The partial uploads of all devices. */
export class PartialUploads {
  readonly #options: PartialUploadsOptions
  /** By their tokens, oldest first. */
  readonly #uploads = new Map<string, DiskPartialUpload>()
  /** Those whose files are open although nobody works on them; the one that rests longest first. */
  readonly #resting = new Set<DiskPartialUpload>()
  #sequence = 0
  #cancelExpiry: (() => void) | undefined
  #unreadable: readonly string[] = []

  constructor(options: PartialUploadsOptions) {
    this.#options = options
  }

  /** Names of the blobs that must not be swept. */
  get blobNames(): readonly string[] {
    return [...this.#uploads.keys(), ...this.#unreadable]
  }

  /** @throws {DomainError} `NO_SPACE`; `CREDENTIAL_GONE`. */
  async begin(source: PartialSource): Promise<PartialUpload> {
    const { room, blobs, devices, maxPerDevice } = this.#options
    const { deviceId, passwordHash, dataName, member, length: declaredSize } = source
    await room.admit(source, declaredSize ?? 0)
    const underWay = room.begin({ deviceId, passwordHash, dataName, member, declaredSize })
    try {
      const blob = await blobs.begin(newBlobName(), { isKept: true })
      const sequence = this.#sequence
      this.#sequence += 1
      const upload = this.#make({ source, underWay, blob, sequence })
      await underWay.rest(upload)
      await upload.note()
      // It may have been shut out while the disk worked.
      if (devices?.isValid(source) === false) await upload.end(shutOut())
      upload.checkIsThere()
      this.#add(upload)
      const complete = this.#of(deviceId).filter(({ isComplete }) => isComplete)
      const open = this.#of(deviceId).filter(({ isComplete }) => !isComplete)
      const oldest = [complete, open].flatMap((own) => own.slice(0, -maxPerDevice))
      for (const one of oldest) await one.end(tooMany())
      return upload
    } catch (error) {
      await underWay.discard()
      throw error
    }
  }

  find(deviceId: string, token: string): PartialUpload | undefined {
    const upload = this.#uploads.get(token)
    return upload?.source.deviceId === deviceId && upload.remainingMs > 0 ? upload : undefined
  }

  /**
   * When the last upload of a batch that is not complete is given up, on the monotonic clock; 0
   * when there is none.
   */
  comingUntil(one: Parameters<typeof isSameBatch>[0]): number {
    const coming = [...this.#uploads.values()].filter(({ source, isComplete }) => {
      return !isComplete && isSameBatch(source, one)
    })
    const leftMs = coming.map(({ remainingMs }) => remainingMs)
    return leftMs.length === 0 ? 0 : this.#options.clock.monotonic() + Math.max(...leftMs)
  }

  /** Gives up all of a device, in this tick. @returns Settles when nothing of it is left. */
  async drop(deviceId: string): Promise<void> {
    await Promise.all(this.#of(deviceId).map((upload) => upload.end(shutOut())))
  }

  /** Loads what has come before a restart. @param isStaged Whether a blob was staged meanwhile. */
  async load(isStaged: (name: string) => boolean): Promise<void> {
    const { records } = this.#options
    const found = await records.load()
    this.#unreadable = found.unreadable
    for (const one of found.records) {
      const upload = isStaged(one.name) ? undefined : await this.#restore(one)
      if (upload === undefined) {
        await records.remove(one.name)
        continue
      }
      this.#sequence = one.record.sequence + 1
      this.#add(upload)
    }
  }

  /** Ends the timer and what is under way; what has come stays, also over a power cut. */
  async close(): Promise<void> {
    this.#cancelExpiry?.()
    await Promise.all([...this.#uploads.values()].map((upload) => upload.close()))
  }

  #of(deviceId: string): readonly DiskPartialUpload[] {
    return [...this.#uploads.values()].filter(({ source }) => source.deviceId === deviceId)
  }

  #make(
    parts: Pick<DiskPartialUpload['parts'], 'source' | 'underWay' | 'blob' | 'sequence'>,
  ): DiskPartialUpload {
    const { records, room, clock, ttlMs, maxFileBytes, receive } = this.#options
    const upload: DiskPartialUpload = new DiskPartialUpload({
      ...parts,
      space: room.space,
      records,
      clock,
      ttlMs,
      maxFileBytes,
      receive,
      onRest: () => this.#rest(upload),
      onGone: () => this.#forget(upload),
    })
    return upload
  }

  #add(upload: DiskPartialUpload): void {
    this.#uploads.set(upload.token, upload)
    this.#scheduleExpiry()
  }

  #forget(upload: DiskPartialUpload): void {
    this.#uploads.delete(upload.token)
    this.#resting.delete(upload)
  }

  #rest(upload: DiskPartialUpload): void {
    this.#resting.delete(upload)
    if (!upload.isOpen) return
    this.#resting.add(upload)
    const [first] = this.#resting
    if (this.#resting.size <= MAX_OPEN || first === undefined) return
    this.#resting.delete(first)
    if (!first.isHeld) void first.parts.blob.close()
  }

  /** An upload from before the start, if its device and all of its bytes can be trusted. */
  async #restore({
    name,
    record,
    mayBeTorn,
  }: FoundRecord<PartialRecord>): Promise<DiskPartialUpload | undefined> {
    const { blobs, devices, room } = this.#options
    const { deviceId, credential, dataName, contentType, length, sha256, member } = record
    const { sequence, synced } = record
    const device = devices?.find(deviceId)
    if (devices !== undefined && credentialOf(device?.passwordHash) !== credential) return undefined
    const blob = await blobs.resume(name)
    // A power cut may have left holes.
    if (blob === undefined || (mayBeTorn && blob.size !== synced)) return undefined
    const { passwordHash } = device ?? {}
    const source = { deviceId, passwordHash, dataName, contentType, length, sha256, member }
    const underWay = room.begin({ ...source, declaredSize: length })
    underWay.restore(blob.size)
    const upload = this.#make({ source, underWay, blob, sequence })
    await underWay.rest(upload)
    if (mayBeTorn || synced !== undefined) {
      // From now on it is of this boot, and what comes is not synced.
      await upload.note().catch(() => {
        // A full disk keeps nobody from starting; the next boot would give the upload up.
      })
    }
    return upload
  }

  #scheduleExpiry(): void {
    const uploads = [...this.#uploads.values()]
    if (this.#cancelExpiry !== undefined || uploads.length === 0) return
    const delayMs = Math.max(0, Math.min(...uploads.map(({ remainingMs }) => remainingMs)))
    this.#cancelExpiry = this.#options.clock.after(delayMs, () => {
      this.#cancelExpiry = undefined
      for (const upload of this.#uploads.values()) {
        if (upload.remainingMs <= 0) void upload.end(expired())
      }
      this.#scheduleExpiry()
    })
  }
}

/** The refusal of an upload whose sender was shut out. */
function shutOut(): DomainError {
  return new DomainError('CREDENTIAL_GONE', 'Cannot go on with the upload: its sender was shut out')
}

function tooMany(): DomainError {
  return new DomainError('NO_SPACE', 'Cannot go on with the upload: its device began too many')
}

function expired(): DomainError {
  return new DomainError('BLOB_GONE', 'Cannot go on with the upload: no bytes came for too long')
}
