/**
 * What staged uploads together may take, of the quota and of the disk: those that are complete, and
 * those under way.
 *
 * Any device may use all of it. When there is not enough of the quota, those give way who have more
 * than the device that brings more bytes would have, the one with most first; when there is nobody,
 * that device gives up what it has waiting itself. So no device has more than its share while others
 * need it.
 *
 * When it is the disk that is full, whoever has filled it may have nothing here. So uploads of others
 * that are complete stay then; those under way give way as above.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { SerialQueue } from '../lib/serial-queue.ts'
import { firstStep, nextStep } from './allowance.ts'
import type { DiskSpace } from './disk-space.ts'
import { UploadUnderWay, type Expected, type Needs } from './upload-under-way.ts'
import { sizeOf, type WaitingUpload, type WaitingUploads } from './waiting-uploads.ts'

export interface StagingRoomOptions {
  readonly quotaBytes: number
  readonly space: DiskSpace
  readonly waiting: Pick<WaitingUploads, 'of'>
  /** Removes an upload that waits; its bytes are not {@link StagingRoom.remove held} any more then. */
  readonly drop: (upload: WaitingUpload) => Promise<void>
}

/** What there is not enough of. */
type Scarce = 'quota' | 'disk'

/** What a device gives up that has more than another one would have. */
interface Expendable {
  /** Oldest first. */
  readonly waiting: readonly WaitingUpload[]
  /** Oldest first. */
  readonly underWay: readonly UploadUnderWay[]
  /** What giving way brings, at least. */
  readonly gain: number
}

export class StagingRoom {
  readonly #options: StagingRoomOptions
  /** By device. */
  readonly #held = new Map<string, number>()
  #used = 0
  readonly #underWay = new Set<UploadUnderWay>()
  /** For giving way: what one has gained must not be taken away by the next. */
  readonly #turns = new SerialQueue()

  constructor(options: StagingRoomOptions) {
    this.#options = options
  }

  /** Counts bytes of a device that are complete. */
  add(deviceId: string, bytes: number): void {
    this.#used += bytes
    this.#held.set(deviceId, this.#heldBy(deviceId) + bytes)
  }

  remove(deviceId: string, bytes: number): void {
    this.#used -= bytes
    const held = this.#heldBy(deviceId) - bytes
    if (held === 0) this.#held.delete(deviceId)
    else this.#held.set(deviceId, held)
  }

  /**
   * Checks whether so many bytes of a device would find room, if everybody gave way who has to.
   *
   * @throws {DomainError} `NO_SPACE`.
   */
  async admit(deviceId: string, bytes: number): Promise<void> {
    const { space } = this.#options
    const missing = this.#missing(bytes)
    if (missing > 0 && this.#gain('quota', deviceId, bytes) < missing) throw noRoom()
    const available = await space.available()
    if (bytes - available > this.#gain('disk', deviceId, bytes)) await space.check(bytes)
  }

  /**
   * Begins an upload, which must be released.
   *
   * @throws {DomainError} `NO_SPACE`.
   */
  async begin(expected: Expected): Promise<UploadUnderWay> {
    const upload = new UploadUnderWay(expected, {
      space: this.#options.space,
      take: (bytes) => this.#take(upload, bytes),
      makeRoom: (needs) => this.#turns.run(() => this.#makeRoom(upload, needs)),
      giveBack: (bytes) => this.remove(expected.deviceId, bytes),
      onReleased: () => this.#underWay.delete(upload),
    })
    this.#underWay.add(upload)
    try {
      await upload.grow(firstStep(expected.declaredSize))
      return upload
    } catch (error) {
      upload.release()
      throw error
    }
  }

  /** @returns How much of the quota an upload gets: at least `least` more bytes, or nothing. */
  #take({ expected, held }: UploadUnderWay, least: number): number {
    if (this.#missing(least) > 0) return 0
    const step = nextStep(held, expected.declaredSize)
    const bytes = Math.max(least, Math.min(step, this.#options.quotaBytes - this.#used))
    this.add(expected.deviceId, bytes)
    return bytes
  }

  /** Bytes that would have to go before `bytes` more find room; 0 when they do. */
  #missing(bytes: number): number {
    return Math.max(0, this.#used + bytes - this.#options.quotaBytes)
  }

  /** Has one upload give way, unless there is room by now. */
  async #makeRoom(upload: UploadUnderWay, { quota, disk }: Needs): Promise<void> {
    const { space, waiting, drop } = this.#options
    const { deviceId, dataName } = upload.expected
    if (upload.isEnding) return
    const ending = [...this.#underWay].find((other) => other !== upload && other.isEnding)
    if (ending !== undefined) return ending.ended
    const missingOfDisk = disk - (await space.available())
    const missing = this.#missing(quota)
    if (missing <= 0 && missingOfDisk <= 0) return
    const isEnough = this.#gain('quota', deviceId, quota) >= missing
    if (!isEnough || this.#gain('disk', deviceId, quota) < missingOfDisk) {
      upload.isEnding = true
      await space.check(disk)
      throw noRoom()
    }
    const scarce = missing > 0 ? 'quota' : 'disk'
    const [largest] = this.#expendable(scarce, deviceId, this.#heldBy(deviceId) + quota)
    if (largest === undefined) {
      const own = waiting.of(deviceId)
      // The upload that will be replaced goes last: until then the new one may fail.
      const first = own.find((other) => other.dataName !== dataName) ?? own[0]
      return first && drop(first)
    }
    const [oldest] = largest.waiting
    if (oldest !== undefined) return drop(oldest)
    const newest = largest.underWay.at(-1)
    newest?.interrupt(noRoom())
    await newest?.ended
  }

  /** Bytes that a device can have more, when it and those give way who have more than it would. */
  #gain(scarce: Scarce, deviceId: string, bytes: number): number {
    const own = sizeOf(this.#options.waiting.of(deviceId))
    const share = this.#heldBy(deviceId) - own + bytes
    return this.#expendable(scarce, deviceId, share).reduce((sum, { gain }) => sum + gain, own)
  }

  /** The other devices that have more than a device would have; the one with most comes first. */
  #expendable(scarce: Scarce, deviceId: string, share: number): readonly Expendable[] {
    return [...this.#held]
      .filter(([other, held]) => other !== deviceId && held > share)
      .sort(([, a], [, b]) => b - a)
      .map(([other, held]) => {
        const waiting = scarce === 'quota' ? this.#options.waiting.of(other) : []
        const underWay = this.#underWayOf(other)
        const bytesUnderWay = underWay.reduce((sum, upload) => sum + upload.held, 0)
        return { waiting, underWay, gain: Math.min(held - share, sizeOf(waiting) + bytesUnderWay) }
      })
      .filter(({ gain }) => gain > 0)
  }

  #underWayOf(deviceId: string): readonly UploadUnderWay[] {
    return [...this.#underWay].filter(({ expected, isExpendable }) => {
      return isExpendable && expected.deviceId === deviceId
    })
  }

  #heldBy(deviceId: string): number {
    return this.#held.get(deviceId) ?? 0
  }
}

/** All is used up, and nobody has to give way. */
function noRoom(): DomainError {
  return new DomainError('NO_SPACE', 'Cannot stage the upload: too much waits already')
}
