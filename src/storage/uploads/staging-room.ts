/**
 * Shares out the room that uploads may take, of the quota and of the disk: those that wait, and
 * those under way.
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

import { DomainError } from '../../core/domain-error.ts'
import { Semaphore } from '../../lib/semaphore.ts'
import { Shares } from '../../lib/shares.ts'
import type { UploadSource } from '../../ports/staging-area.ts'
import { nextStep, type Allowance, type DiskSpace } from '../home/disk-space.ts'
import { noRoom } from './reasons.ts'
import type { Upload } from './upload.ts'

interface StagingRoomOptions {
  readonly quotaBytes: number
  readonly space: DiskSpace
  /** All uploads, oldest first. */
  readonly uploads: ReadonlySet<Upload>
}

type Sender = Pick<UploadSource, 'deviceId' | 'member'>

interface Needs {
  readonly quota: number
  readonly disk: number
}

/** The uploads that a device gives up because it has more than another one would have. */
interface Expendable {
  /** Oldest first. */
  readonly waiting: readonly Upload[]
  /** Oldest first. */
  readonly underWay: readonly Upload[]
  /** The bytes that giving way brings, at least. */
  readonly gain: number
}

/** The room of all uploads together. */
export class StagingRoom {
  readonly #options: StagingRoomOptions
  /** The room of the uploads whose bytes come. */
  readonly #shares = new Set<Share>()
  /** Uploads make room one after the other, so that none takes what another one has gained. */
  readonly #turns = new Semaphore(1)

  constructor(options: StagingRoomOptions) {
    this.#options = options
  }

  get space(): DiskSpace {
    return this.#options.space
  }

  /** Checks whether an upload would find room. @throws {DomainError} `NO_SPACE`. */
  async admit(source: UploadSource): Promise<void> {
    const { declaredSize: bytes = 0 } = source
    const missing = this.#missing(bytes)
    if (missing > 0 && this.#gain('quota', source, bytes) < missing) throw noRoom()
    const lacking = bytes - (await this.space.reachable())
    if (lacking > 0 && lacking > this.#gain('disk', source, bytes)) await this.space.check(bytes)
  }

  /** The room of an upload whose bytes come, which must be released. It has none until it grows. */
  open(upload: Upload): Allowance {
    const share = new Share(this, upload, () => this.#shares.delete(share))
    this.#shares.add(share)
    return share
  }

  /** Takes bytes of the quota for an upload: at least `least`, or none. @returns How many. */
  take({ held, length }: Upload, least: number): number {
    if (this.#missing(least) > 0) return 0
    const left = this.#options.quotaBytes - sizeOf(this.#options.uploads)
    return Math.max(least, Math.min(nextStep(held, length), left))
  }

  /** Makes room for an upload, or some of it. @throws {DomainError} `NO_SPACE`. */
  makeRoom(share: Share, needs: Needs): Promise<void> {
    return this.#turns.run(() => this.#makeRoom(share, needs))
  }

  #held(): Shares {
    const shares = new Shares()
    for (const { source, held } of this.#options.uploads) shares.add(source.deviceId, held)
    return shares
  }

  /** Bytes that would have to go before `bytes` more find room; 0 when they do. */
  #missing(bytes: number): number {
    const { uploads, quotaBytes } = this.#options
    return Math.max(0, sizeOf(uploads) + bytes - quotaBytes)
  }

  /** Has one upload give way, unless there is room by now. */
  async #makeRoom(share: Share, { quota, disk }: Needs): Promise<void> {
    if (share.isEnding) return
    const { source } = share.upload
    const ending = this.#endingBeside(share)
    if (ending !== undefined) return ending
    const missingOfDisk = disk - (await this.space.available())
    const missing = this.#missing(quota)
    if (missing <= 0 && missingOfDisk <= 0) return
    const isEnough = this.#gain('quota', source, quota) >= missing
    if (!isEnough || this.#gain('disk', source, quota) < missingOfDisk) {
      share.fail()
      await this.space.check(disk)
      throw noRoom()
    }
    await this.#choose(missing > 0 ? 'quota' : 'disk', source, quota)?.end(noRoom())
  }

  /** Settles when something that is about to give back what it has did so. */
  #endingBeside(share: Share): Promise<void> | undefined {
    const other = [...this.#shares].find((one) => one !== share && one.isEnding)
    const removed = [...this.#options.uploads].find(({ state }) => state === 'ending')
    return other?.released ?? removed?.ended
  }

  /** The upload that gives way to one that needs `bytes` more. */
  #choose(scarce: 'quota' | 'disk', source: UploadSource, bytes: number): Upload | undefined {
    const { deviceId, dataName } = source
    const [largest] = this.#expendable(scarce, deviceId, this.#held().of(deviceId) + bytes)
    if (largest !== undefined) return largest.waiting[0] ?? largest.underWay.at(-1)
    const own = this.#waitingOf(source)
    // The upload that will be replaced goes last: until then the new one may fail.
    return own.find((other) => other.dataName !== dataName) ?? own[0] ?? this.#restingOf(source)[0]
  }

  /** Bytes that a device can have more, when it and those give way who have more than it would. */
  #gain(scarce: 'quota' | 'disk', source: Sender, bytes: number): number {
    const own = sizeOf([...this.#waitingOf(source), ...this.#restingOf(source)])
    const share = this.#held().of(source.deviceId) - own + bytes
    const others = this.#expendable(scarce, source.deviceId, share)
    return others.reduce((sum, { gain }) => sum + gain, own)
  }

  /** The other devices that have more than a device would have; the one with most comes first. */
  #expendable(scarce: 'quota' | 'disk', deviceId: string, share: number): readonly Expendable[] {
    return this.#held()
      .largestFirst()
      .filter(([other, held]) => other !== deviceId && held > share)
      .map(([other, held]) => {
        const own = this.#of(other)
        const waiting = scarce === 'quota' ? own.filter(({ state }) => state === 'waiting') : []
        const underWay = own.filter(isUnderWay)
        const gain = Math.min(held - share, sizeOf([...waiting, ...underWay]))
        return { waiting, underWay, gain }
      })
      .filter(({ gain }) => gain > 0)
  }

  #of(deviceId: string): readonly Upload[] {
    return [...this.#options.uploads].filter(({ source }) => source.deviceId === deviceId)
  }

  /** The complete uploads that a device can give up for another one, oldest first. */
  #waitingOf(sender: Sender): readonly Upload[] {
    return this.#besides(sender).filter(({ state }) => state === 'waiting')
  }

  /** The same of those that nobody sends to. */
  #restingOf(sender: Sender): readonly Upload[] {
    return this.#besides(sender).filter(({ state }) => state === 'resting')
  }

  /** Leaves out its batch, but for what has its place: the sender has begun that file again. */
  #besides({ deviceId, member }: Sender): readonly Upload[] {
    return this.#of(deviceId).filter(({ member: other }) => {
      return member === undefined || other?.batch !== member.batch || other.number === member.number
    })
  }
}

class Share implements Allowance {
  readonly upload: Upload
  /** Resolves when it has given back what it does not need. */
  readonly released: Promise<void>
  readonly #room: StagingRoom
  readonly #disk: Allowance
  #hasFailed = false
  #isReleased = false
  #end: () => void = () => {}

  /** @param onReleased Called once, in the tick of the release. */
  constructor(room: StagingRoom, upload: Upload, onReleased: () => void) {
    this.#room = room
    this.upload = upload
    this.#disk = room.space.allowance(upload.length, upload.held)
    this.released = new Promise((resolve) => {
      this.#end = () => {
        onReleased()
        resolve()
      }
    })
  }

  /** Whether it takes no more: the upload has found no room, or gives way. */
  get isEnding(): boolean {
    return this.#hasFailed || this.#isReleased || this.upload.reason !== undefined
  }

  get bytes(): number {
    return Math.min(this.upload.held, this.#disk.bytes)
  }

  grow(bytes: number): Promise<void> {
    return this.upload.guard(this.#grow(bytes))
  }

  wrote(bytes: number): void {
    this.#disk.wrote(bytes)
  }

  /** Notes that it found no room, and gives back soon what it took for that. */
  fail(): void {
    this.#hasFailed = true
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#disk.release()
    this.#end()
  }

  async #grow(bytes: number): Promise<void> {
    this.upload.check()
    while (!this.#takeQuota(bytes) || !(await this.#takeDisk(bytes))) {
      const { held } = this.upload
      const needs = { quota: Math.max(0, bytes - held), disk: bytes - this.#disk.bytes }
      await this.#room.makeRoom(this, needs)
      // Nobody waits for this upload any more.
      if (this.isEnding) return
    }
  }

  #takeQuota(bytes: number): boolean {
    const { upload } = this
    if (upload.held >= bytes) return true
    const taken = this.#room.take(upload, bytes - upload.held)
    upload.held += taken
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

function isUnderWay({ state }: Upload): boolean {
  return state === 'coming' || state === 'resting' || state === 'whole'
}

/** The bytes that uploads take together. */
export function sizeOf(uploads: Iterable<Upload>): number {
  let size = 0
  for (const { held } of uploads) size += held
  return size
}
