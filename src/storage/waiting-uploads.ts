/** The uploads that wait for their documents, and one timer that gives them up. @module */

import { Subscribers } from '../lib/subscribers.ts'
import type { Clock } from '../lib/clock.ts'
import type { StagedUpload } from '../ports/staging-area.ts'
import type { DiskBlob } from './disk-blob.ts'

/** A staged upload and its files. */
export interface WaitingUpload extends StagedUpload {
  readonly blob: DiskBlob
  /** The name of its record and its blob. */
  readonly name: string
  /** Later uploads have greater numbers. */
  readonly sequence: number
  /** Milliseconds on the monotonic clock: nothing expires because somebody sets the time. */
  readonly expiresAt: number
}

/** The uploads of all devices that wait. */
export class WaitingUploads {
  readonly #clock: Clock
  readonly #onExpired: (upload: WaitingUpload) => void
  readonly #comingUntil: (upload: WaitingUpload) => number
  readonly #uploads = new Map<string, WaitingUpload>()
  readonly #watchers = new Subscribers()
  #cancelExpiry: (() => void) | undefined

  /**
   * @param onExpired Called with uploads that waited too long and were removed.
   * @param comingUntil When the last of the uploads that belong to this one, and are still coming,
   *   is given up, on the monotonic clock.
   */
  constructor(
    clock: Clock,
    onExpired: (upload: WaitingUpload) => void,
    comingUntil: (upload: WaitingUpload) => number = () => 0,
  ) {
    this.#clock = clock
    this.#onExpired = onExpired
    this.#comingUntil = comingUntil
  }

  /** All uploads. */
  get all(): readonly WaitingUpload[] {
    return [...this.#uploads.values()]
  }

  /** Calls `listener` when other uploads wait than before. @returns Ends the subscription. */
  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  /** The uploads of a device, oldest first. */
  of(deviceId: string): readonly WaitingUpload[] {
    return this.all
      .filter((upload) => upload.deviceId === deviceId)
      .sort((a, b) => a.sequence - b.sequence)
  }

  /** The upload of a device under a name, or at a place in a batch, unless it has expired. */
  find(
    deviceId: string,
    { dataName = '', member }: Partial<Pick<WaitingUpload, 'dataName' | 'member'>>,
  ): WaitingUpload | undefined {
    const upload = this.#uploads.get(keyOf({ deviceId, dataName, member }))
    return upload === undefined || this.isExpired(upload) ? undefined : upload
  }

  /** Whether something waits under the device and name of this one. */
  has(upload: WaitingUpload): boolean {
    return this.#uploads.has(keyOf(upload))
  }

  /** @returns The upload of the same device and name that it replaces. */
  add(upload: WaitingUpload): WaitingUpload | undefined {
    const key = keyOf(upload)
    const replaced = this.#uploads.get(key)
    this.#uploads.set(key, upload)
    this.#scheduleExpiry()
    this.#watchers.notify()
    return replaced
  }

  /** @returns Whether it was still there: nobody was faster. */
  remove(upload: WaitingUpload): boolean {
    const key = keyOf(upload)
    if (this.#uploads.get(key) !== upload) return false
    this.#uploads.delete(key)
    this.#watchers.notify()
    return true
  }

  /** Whether an upload has waited for too long. */
  isExpired(upload: WaitingUpload): boolean {
    return this.#expiryOf(upload) <= this.#clock.monotonic()
  }

  /** The first of a batch waits until the last one has come. */
  #expiryOf(upload: WaitingUpload): number {
    const { expiresAt, member } = upload
    if (member === undefined) return expiresAt
    const batch = this.all.filter((other) => isSameBatch(other, upload))
    return lastOf([upload, ...batch], this.#comingUntil(upload))
  }

  /** When each upload expires. */
  #expiries(): readonly (readonly [WaitingUpload, number])[] {
    const groups = groupByBatch(this.all)
    return groups.flatMap((batch) => {
      const [first] = batch
      const expiry = lastOf(batch, first?.member === undefined ? 0 : this.#comingUntil(first))
      return batch.map((upload) => [upload, expiry] as const)
    })
  }

  /** Ends the timer. */
  close(): void {
    this.#cancelExpiry?.()
  }

  #scheduleExpiry(): void {
    if (this.#cancelExpiry !== undefined || this.#uploads.size === 0) return
    const next = this.#expiries().reduce((least, [, expiry]) => Math.min(least, expiry), Infinity)
    const delayMs = Math.max(0, next - this.#clock.monotonic())
    this.#cancelExpiry = this.#clock.after(delayMs, () => {
      this.#cancelExpiry = undefined
      const now = this.#clock.monotonic()
      for (const [upload, expiry] of this.#expiries()) {
        if (expiry > now) continue
        this.remove(upload)
        this.#onExpired(upload)
      }
      this.#scheduleExpiry()
    })
  }
}

/** The bytes that uploads take together. */
export function sizeOf(uploads: readonly WaitingUpload[]): number {
  return uploads.reduce((sum, { blob }) => sum + blob.size, 0)
}

/** Uploads with the others of their batch, in the order of the first of each. */
export function groupByBatch(
  uploads: readonly WaitingUpload[],
): readonly (readonly WaitingUpload[])[] {
  const groups = new Map<string, WaitingUpload[]>()
  for (const upload of uploads) {
    const { deviceId, member } = upload
    const key = member === undefined ? keyOf(upload) : JSON.stringify([deviceId, member.batch, 0])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [upload])
    else group.push(upload)
  }
  return [...groups.values()]
}

function lastOf(uploads: readonly WaitingUpload[], least: number): number {
  return uploads.reduce((last, { expiresAt }) => Math.max(last, expiresAt), least)
}

/** Where an upload belongs. */
type Place = Pick<WaitingUpload, 'deviceId' | 'member'>

/** Whether both belong to one batch. */
export function isSameBatch(a: Place, b: Place): boolean {
  const isOfBatch = a.member !== undefined && a.member.batch === b.member?.batch
  return isOfBatch && a.deviceId === b.deviceId
}

function keyOf({ deviceId, dataName, member }: Place & { readonly dataName: string }): string {
  return JSON.stringify([deviceId, ...(member ? [member.batch, member.number] : [dataName])])
}
