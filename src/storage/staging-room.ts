/**
 * Shares out the room that staged uploads may take, of the quota and of the disk: uploads that are
 * complete, and those under way.
 *
 * Any device may use all of it. When there is not enough of the quota, those give way who have more
 * than the device that brings more bytes would have, the one with most first; when there is nobody,
 * that device gives up what it has waiting itself. So no device has more than its share while
 * others need it.
 *
 * When it is the disk that is full, whoever has filled it may have nothing here. So uploads of
 * others that are complete stay then; those under way give way as above.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { Interruption } from '../lib/interruption.ts'
import { SerialQueue } from '../lib/serial-queue.ts'
import type { UploadSource } from '../ports/staging-area.ts'
import type { DiskBlob } from './disk-blob.ts'
import { nextStep, type Allowance, type DiskSpace } from './disk-space.ts'
import { isSameBatch, sizeOf, type WaitingUpload, type WaitingUploads } from './waiting-uploads.ts'

interface StagingRoomOptions {
  readonly quotaBytes: number
  readonly space: DiskSpace
  readonly waiting: Pick<WaitingUploads, 'of'>
  /** Removes an upload that waits; its bytes are not {@link StagingRoom.add counted} then. */
  readonly drop: (upload: WaitingUpload) => Promise<void>
}

/** The device that an upload is of, and its batch. */
type Sender = Pick<UploadSource, 'deviceId' | 'member'>

/** Bytes that an upload lacks. */
interface Needs {
  readonly quota: number
  readonly disk: number
}

/** The uploads that a device gives up because it has more than another one would have. */
interface Expendable {
  /** Oldest first. */
  readonly waiting: readonly WaitingUpload[]
  /** Oldest first. */
  readonly underWay: readonly UploadUnderWay[]
  /** The bytes that giving way brings, at least. */
  readonly gain: number
}

/** The room of all staged uploads together. */
export class StagingRoom {
  readonly space: DiskSpace
  readonly #options: StagingRoomOptions
  /** Bytes by device. */
  readonly #held = new Map<string, number>()
  #used = 0
  readonly #underWay = new Set<UploadUnderWay>()
  /** Uploads make room one after the other, so that none takes what another one has gained. */
  readonly #turns = new SerialQueue()

  constructor(options: StagingRoomOptions) {
    this.#options = options
    this.space = options.space
  }

  /** Counts bytes of a device that are complete. */
  add(deviceId: string, bytes: number): void {
    this.#used += bytes
    this.#held.set(deviceId, this.#heldBy(deviceId) + bytes)
  }

  /** Counts bytes of a device no longer. */
  remove(deviceId: string, bytes: number): void {
    this.#used -= bytes
    const held = this.#heldBy(deviceId) - bytes
    if (held === 0) this.#held.delete(deviceId)
    else this.#held.set(deviceId, held)
  }

  /** Checks whether an upload would find room. @throws {DomainError} `NO_SPACE`. */
  async admit(source: Sender, bytes: number): Promise<void> {
    const missing = this.#missing(bytes)
    if (missing > 0 && this.#gain('quota', source, bytes) < missing) throw noRoom()
    const lacking = bytes - (await this.space.available())
    if (lacking > 0 && lacking > this.#gain('disk', source, bytes)) await this.space.check(bytes)
  }

  /** Begins an upload, which must be released. It has no room until it grows. */
  begin(source: UploadSource): UploadUnderWay {
    const upload = new UploadUnderWay(this, source, () => this.#underWay.delete(upload))
    this.#underWay.add(upload)
    return upload
  }

  /** Takes bytes of the quota for an upload: at least `least`, or none. @returns How many. */
  take({ source, held }: UploadUnderWay, least: number): number {
    if (this.#missing(least) > 0) return 0
    const step = nextStep(held, source.declaredSize)
    const bytes = Math.max(least, Math.min(step, this.#options.quotaBytes - this.#used))
    this.add(source.deviceId, bytes)
    return bytes
  }

  /** Makes room for an upload, or some of it. @throws {DomainError} `NO_SPACE`. */
  makeRoom(upload: UploadUnderWay, needs: Needs): Promise<void> {
    return this.#turns.run(() => this.#makeRoom(upload, needs))
  }

  /** Bytes that would have to go before `bytes` more find room; 0 when they do. */
  #missing(bytes: number): number {
    return Math.max(0, this.#used + bytes - this.#options.quotaBytes)
  }

  /** Has one upload give way, unless there is room by now. */
  async #makeRoom(upload: UploadUnderWay, { quota, disk }: Needs): Promise<void> {
    const { drop } = this.#options
    const { deviceId, dataName } = upload.source
    if (upload.isEnding) return
    const ending = [...this.#underWay].find((other) => other !== upload && other.isEnding)
    if (ending !== undefined) return ending.ended
    const missingOfDisk = disk - (await this.space.available())
    const missing = this.#missing(quota)
    if (missing <= 0 && missingOfDisk <= 0) return
    const isEnough = this.#gain('quota', upload.source, quota) >= missing
    if (!isEnough || this.#gain('disk', upload.source, quota) < missingOfDisk) {
      upload.isEnding = true
      await this.space.check(disk)
      throw noRoom()
    }
    const scarce = missing > 0 ? 'quota' : 'disk'
    const [largest] = this.#expendable(scarce, deviceId, this.#heldBy(deviceId) + quota)
    if (largest === undefined) {
      const own = this.#waitingOf(upload.source)
      // The upload that will be replaced goes last: until then the new one may fail.
      const first = own.find((other) => other.dataName !== dataName) ?? own[0]
      if (first !== undefined) return drop(first)
      return giveUp(this.#restingOf(deviceId)[0])
    }
    const [oldest] = largest.waiting
    if (oldest !== undefined) return drop(oldest)
    return giveUp(largest.underWay.at(-1))
  }

  /** Bytes that a device can have more, when it and those give way who have more than it would. */
  #gain(scarce: 'quota' | 'disk', source: Sender, bytes: number): number {
    const { deviceId } = source
    const resting = this.#restingOf(deviceId).reduce((sum, { held }) => sum + held, 0)
    const own = sizeOf(this.#waitingOf(source)) + resting
    const share = this.#heldBy(deviceId) - own + bytes
    return this.#expendable(scarce, deviceId, share).reduce((sum, { gain }) => sum + gain, own)
  }

  /** The other devices that have more than a device would have; the one with most comes first. */
  #expendable(scarce: 'quota' | 'disk', deviceId: string, share: number): readonly Expendable[] {
    return [...this.#held]
      .filter(([other, held]) => other !== deviceId && held > share)
      .sort(([, a], [, b]) => b - a)
      .map(([other, held]) => {
        const waiting = scarce === 'quota' ? this.#options.waiting.of(other) : []
        const underWay = [...this.#underWay].filter(({ source, isKept }) => {
          return !isKept && source.deviceId === other
        })
        const bytesUnderWay = underWay.reduce((sum, upload) => sum + upload.held, 0)
        return { waiting, underWay, gain: Math.min(held - share, sizeOf(waiting) + bytesUnderWay) }
      })
      .filter(({ gain }) => gain > 0)
  }

  /** The uploads that a device can give up for another one, oldest first: none of its batch. */
  #waitingOf(source: Sender): readonly WaitingUpload[] {
    return this.#options.waiting.of(source.deviceId).filter((other) => !isSameBatch(other, source))
  }

  /** The uploads of a device that nobody sends to, oldest first. */
  #restingOf(deviceId: string): readonly UploadUnderWay[] {
    return [...this.#underWay].filter(({ source, isResting }) => {
      return isResting && source.deviceId === deviceId
    })
  }

  #heldBy(deviceId: string): number {
    return this.#held.get(deviceId) ?? 0
  }
}

/** The bytes of an upload while none come. */
type BytesAtRest = Pick<DiskBlob, 'size' | 'discard'>

/**
 * An upload that is not staged yet, and what was set aside for it: its bytes are coming, or they
 * wait for the end of their form. Until it is kept it may be interrupted.
 */
export class UploadUnderWay implements Allowance {
  readonly source: UploadSource
  /** Resolves when the upload has been released. */
  readonly ended: Promise<void>
  /** Whether the upload is about to give back what it has. */
  isEnding = false
  readonly #room: StagingRoom
  #disk: Allowance
  readonly #interruption = new Interruption()
  /** Bytes of the quota that the upload has. */
  held = 0
  /** Whether the upload gives way to nobody any more. */
  isKept = false
  /** Whether nobody sends to it, although more is to come. */
  isResting = false
  #blob: BytesAtRest | undefined
  #reason: Error | undefined
  #isReleased = false
  #end: () => void = () => {}

  /** @param onReleased Called once, in the tick of the release. */
  constructor(room: StagingRoom, source: UploadSource, onReleased: () => void) {
    this.#room = room
    this.source = source
    this.#disk = room.space.allowance(source.declaredSize)
    this.ended = new Promise((resolve) => {
      this.#end = () => {
        onReleased()
        resolve()
      }
    })
  }

  get bytes(): number {
    return Math.min(this.held, this.#disk.bytes)
  }

  /** The bytes of the upload, until it is interrupted. */
  guard(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    return this.#interruption.guardAll(bytes)
  }

  /** Ends the upload, also while it waits for bytes or for room, or for the end of its form. */
  interrupt(reason: Error): void {
    if (this.#reason !== undefined) return
    this.isEnding = true
    this.#reason = reason
    this.#interruption.interrupt(reason)
    if (this.#blob !== undefined) void this.discard()
  }

  /** Counts bytes that came before a restart. */
  restore(size: number): void {
    this.#room.add(this.source.deviceId, size)
    this.held = size
  }

  /**
   * Notes that more bytes come behind those that rest. @throws The reason of an interruption.
   *
   * @param declaredSize Size of the whole, if it is known.
   */
  resume(declaredSize: number | undefined): void {
    this.#check()
    this.#blob = undefined
    this.isResting = false
    this.#disk = this.#room.space.allowance(declaredSize, this.held)
  }

  /** Notes that no bytes come for now, also to one that was kept. @throws As {@link complete}. */
  async rest(bytes: BytesAtRest): Promise<void> {
    this.isResting = true
    this.isKept = false
    await this.complete(bytes)
  }

  /**
   * Notes that no bytes come any more: the upload needs no more room than they take.
   *
   * @throws The reason of the interruption, when it came first; nothing is left of the bytes then.
   */
  async complete(blob: BytesAtRest): Promise<void> {
    this.#blob = blob
    if (this.#reason !== undefined) await this.discard()
    this.#check()
    this.#disk.release()
    this.#room.remove(this.source.deviceId, this.held - blob.size)
    this.held = blob.size
  }

  /** Makes the upload give way to nobody from now on. @throws The reason of an interruption. */
  keep(): void {
    this.#check()
    this.isKept = true
  }

  /** Removes the bytes, and ends the upload then. */
  async discard(): Promise<void> {
    await this.#blob?.discard()
    this.release()
  }

  grow(bytes: number): Promise<void> {
    return this.#interruption.guard(this.#grow(bytes))
  }

  wrote(bytes: number): void {
    this.#disk.wrote(bytes)
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#disk.release()
    this.#room.remove(this.source.deviceId, this.held)
    this.held = 0
    this.#end()
  }

  #check(): void {
    if (this.#reason !== undefined) throw this.#reason
  }

  async #grow(bytes: number): Promise<void> {
    while (!this.#takeQuota(bytes) || !(await this.#takeDisk(bytes))) {
      const [quota, disk] = [Math.max(0, bytes - this.held), bytes - this.#disk.bytes]
      await this.#room.makeRoom(this, { quota, disk })
      // Nobody waits for this upload any more.
      if (this.isEnding || this.#isReleased) return
    }
  }

  #takeQuota(bytes: number): boolean {
    if (this.held >= bytes) return true
    const taken = this.#room.take(this, bytes - this.held)
    this.held += taken
    return taken > 0
  }

  async #takeDisk(bytes: number): Promise<boolean> {
    try {
      await this.#disk.grow(bytes)
      // The upload was ended while the disk was asked.
      if (this.#isReleased) this.#disk.release()
      return true
    } catch (error) {
      if (error instanceof DomainError && error.code === 'NO_SPACE') return false
      throw error
    }
  }
}

/** Has an upload give way. */
async function giveUp(upload: UploadUnderWay | undefined): Promise<void> {
  upload?.interrupt(noRoom())
  await upload?.ended
}

/** All is used up, and nobody has to give way. */
function noRoom(): DomainError {
  return new DomainError('NO_SPACE', 'Cannot stage the upload: too much waits already')
}
