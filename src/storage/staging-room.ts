/**
 * What staged uploads together may take, of the quota and of the disk: those that are complete, and
 * those under way.
 *
 * Any device may use all of it. When there is not enough, whoever brings more bytes gives up what it
 * has waiting itself; then those give way who have more than it would have, the one with most first.
 * So no device has more than its share while others need it.
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

/** A device that has more than another one would have. */
interface Expendable {
  readonly deviceId: string
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
    if (missing > 0 && this.#gain(deviceId, bytes) < missing) throw noRoom()
    if (bytes - (await space.available()) > this.#gain(deviceId, bytes)) await space.check(bytes)
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
      onReleased: (bytes) => {
        this.#underWay.delete(upload)
        this.remove(expected.deviceId, bytes)
      },
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
    const missing = Math.max(this.#missing(quota), disk - (await space.available()))
    if (missing <= 0) return
    if (this.#gain(deviceId, quota) < missing) {
      upload.isEnding = true
      await space.check(disk)
      throw noRoom()
    }
    const own = waiting.of(deviceId)
    // The upload that will be replaced goes last: until then the new one may fail.
    const first = own.find((other) => other.dataName !== dataName) ?? own[0]
    if (first !== undefined) return drop(first)
    const [largest] = this.#expendable(deviceId, quota)
    const [oldest] = largest === undefined ? [] : waiting.of(largest.deviceId)
    if (oldest !== undefined) return drop(oldest)
    const newest = largest?.underWay.at(-1)
    newest?.interrupt(noRoom())
    await newest?.ended
  }

  /** Bytes that a device can have more, when it and those give way who have more than it would. */
  #gain(deviceId: string, bytes: number): number {
    const own = sizeOf(this.#options.waiting.of(deviceId))
    return this.#expendable(deviceId, bytes).reduce((sum, { gain }) => sum + gain, own)
  }

  /** The devices that give way to one that wants so many bytes more; the one with most comes first. */
  #expendable(deviceId: string, bytes: number): readonly Expendable[] {
    const { waiting } = this.#options
    const share = this.#heldBy(deviceId) - sizeOf(waiting.of(deviceId)) + bytes
    return [...this.#held]
      .filter(([other, held]) => other !== deviceId && held > share)
      .sort(([, a], [, b]) => b - a)
      .map(([other, held]) => {
        const underWay = this.#underWayOf(other)
        const bytesUnderWay = underWay.reduce((sum, upload) => sum + upload.held, 0)
        const gain = Math.min(held - share, sizeOf(waiting.of(other)) + bytesUnderWay)
        return { deviceId: other, underWay, gain }
      })
      .filter(({ gain }) => gain > 0)
  }

  #underWayOf(deviceId: string): readonly UploadUnderWay[] {
    return [...this.#underWay].filter(({ expected }) => expected.deviceId === deviceId)
  }

  #heldBy(deviceId: string): number {
    return this.#held.get(deviceId) ?? 0
  }
}

/** All is used up, and nobody has to give way. */
function noRoom(): DomainError {
  return new DomainError('NO_SPACE', 'Cannot stage the upload: too much waits already')
}
