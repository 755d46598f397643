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

/** The uploads of a device that came with a name, or those of a batch, by name or number. */
type Group = Map<string, WaitingUpload>

/** The key of those that came with a name. */
const NAMED = ''

/** The uploads of all devices that wait. */
export class WaitingUploads {
  readonly #clock: Clock
  readonly #onExpired: (upload: WaitingUpload) => void
  readonly #comingUntil: (upload: WaitingUpload) => number
  /** By device, and by batch then. */
  readonly #groups = new Map<string, Map<string, Group>>()
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
    return [...this.#groups.keys()].flatMap((deviceId) => this.of(deviceId))
  }

  /** Calls `listener` when other uploads wait than before. @returns Ends the subscription. */
  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  /** The uploads of a device, oldest first. */
  of(deviceId: string): readonly WaitingUpload[] {
    const groups = [...(this.#groups.get(deviceId)?.values() ?? [])]
    return groups.flatMap((group) => [...group.values()]).sort(byAge)
  }

  /** The upload of a device under a name, or at a place in a batch, unless it has expired. */
  find(
    deviceId: string,
    { dataName = '', member }: Partial<Pick<WaitingUpload, 'dataName' | 'member'>>,
  ): WaitingUpload | undefined {
    const place = { deviceId, dataName, member }
    const upload = this.#groupOf(place)?.get(keyOf(place))
    return upload === undefined || this.isExpired(upload) ? undefined : upload
  }

  /** The uploads of the batch in which this one is. */
  batchOf(place: Place): readonly WaitingUpload[] {
    return place.member === undefined ? [] : [...(this.#groupOf(place)?.values() ?? [])]
  }

  /**
   * The uploads of a device that are too many: those under its oldest names, and the batches to
   * which nothing has come for longest.
   */
  beyond(deviceId: string, names: number, batches: number): readonly WaitingUpload[] {
    const groups = this.#groups.get(deviceId)
    const named = [...(groups?.get(NAMED)?.values() ?? [])]
    const others = [...(groups ?? [])].filter(([batch]) => batch !== NAMED)
    const oldNames = named.length > names ? named.sort(byAge).slice(0, -names) : []
    if (others.length <= batches) return oldNames
    const byNewest = others
      .map(([, group]) => [...group.values()].sort(byAge))
      .sort((a, b) => (b.at(-1)?.sequence ?? 0) - (a.at(-1)?.sequence ?? 0))
    return [...oldNames, ...byNewest.slice(batches).flat()]
  }

  /** Whether something waits under the device and name of this one. */
  has(upload: WaitingUpload): boolean {
    return this.#groupOf(upload)?.has(keyOf(upload)) === true
  }

  /** @returns The upload of the same device and name that it replaces. */
  add(upload: WaitingUpload): WaitingUpload | undefined {
    const { deviceId, member } = upload
    const groups = this.#groups.get(deviceId) ?? new Map<string, Group>()
    const group = this.#groupOf(upload) ?? new Map<string, WaitingUpload>()
    this.#groups.set(deviceId, groups.set(member?.batch ?? NAMED, group))
    const replaced = group.get(keyOf(upload))
    group.set(keyOf(upload), upload)
    this.#scheduleExpiry()
    this.#watchers.notify()
    return replaced
  }

  /** @returns Whether it was still there: nobody was faster. */
  remove(upload: WaitingUpload): boolean {
    const { deviceId, member } = upload
    const group = this.#groupOf(upload)
    if (group?.get(keyOf(upload)) !== upload) return false
    group.delete(keyOf(upload))
    const groups = this.#groups.get(deviceId)
    if (group.size === 0) groups?.delete(member?.batch ?? NAMED)
    if (groups?.size === 0) this.#groups.delete(deviceId)
    this.#watchers.notify()
    return true
  }

  /** Whether an upload has waited for too long. */
  isExpired(upload: WaitingUpload): boolean {
    return this.#expiryOf(upload) <= this.#clock.monotonic()
  }

  #groupOf({ deviceId, member }: Place): Group | undefined {
    return this.#groups.get(deviceId)?.get(member?.batch ?? NAMED)
  }

  /** The first of a batch waits until the last one has come. */
  #expiryOf(upload: WaitingUpload): number {
    if (upload.member === undefined) return upload.expiresAt
    return lastOf([upload, ...this.batchOf(upload)], this.#comingUntil(upload))
  }

  /** When each upload expires. */
  #expiries(): readonly (readonly [WaitingUpload, number])[] {
    const groups = [...this.#groups.values()].flatMap((ofDevice) => [...ofDevice.values()])
    return groups.flatMap((group) => {
      const uploads = [...group.values()]
      const [first] = uploads
      if (first?.member === undefined) return uploads.map((one) => [one, one.expiresAt] as const)
      const expiry = this.#expiryOf(first)
      return uploads.map((upload) => [upload, expiry] as const)
    })
  }

  /** Ends the timer. */
  close(): void {
    this.#cancelExpiry?.()
  }

  #scheduleExpiry(): void {
    if (this.#cancelExpiry !== undefined || this.#groups.size === 0) return
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

function byAge(a: WaitingUpload, b: WaitingUpload): number {
  return a.sequence - b.sequence
}

/** Where it is in its group. */
function keyOf({ dataName, member }: Pick<WaitingUpload, 'dataName' | 'member'>): string {
  return member === undefined ? dataName : String(member.number)
}
