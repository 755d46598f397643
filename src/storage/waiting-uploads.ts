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
  readonly #uploads = new Map<string, WaitingUpload>()
  readonly #watchers = new Subscribers()
  #cancelExpiry: (() => void) | undefined

  /** @param onExpired Called with uploads that waited too long and were removed. */
  constructor(clock: Clock, onExpired: (upload: WaitingUpload) => void) {
    this.#clock = clock
    this.#onExpired = onExpired
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

  /** The upload of a device under a name, unless it has expired. */
  find(deviceId: string, dataName: string): WaitingUpload | undefined {
    const upload = this.#uploads.get(keyOf({ deviceId, dataName }))
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
  isExpired({ expiresAt }: WaitingUpload): boolean {
    return expiresAt <= this.#clock.monotonic()
  }

  /** Ends the timer. */
  close(): void {
    this.#cancelExpiry?.()
  }

  #scheduleExpiry(): void {
    if (this.#cancelExpiry !== undefined || this.#uploads.size === 0) return
    const next = Math.min(...this.all.map(({ expiresAt }) => expiresAt))
    const delayMs = Math.max(0, next - this.#clock.monotonic())
    this.#cancelExpiry = this.#clock.after(delayMs, () => {
      this.#cancelExpiry = undefined
      for (const upload of this.all.filter((waiting) => this.isExpired(waiting))) {
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

function keyOf({ deviceId, dataName }: Pick<WaitingUpload, 'deviceId' | 'dataName'>): string {
  return JSON.stringify([deviceId, dataName])
}
