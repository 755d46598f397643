/**
 * Keeps files that come from filling the disk: counts what is free, less what the files under way
 * were promised.
 *
 * Room is promised in steps, while bytes come: what a sender declares and does not send takes
 * nothing from anybody.
 * @module
 */

import { open, stat, statfs, unlink } from 'node:fs/promises'
import { DomainError } from '../../core/domain-error.ts'
import { KIB, MIB } from '../../core/limits.ts'
import type { DiskRoom, Expendable, ReserveRoom } from '../../ports/disk-room.ts'
import { join } from 'node:path'
import { temporaryPath } from '../../lib/atomic-file.ts'
import { within, type Clock } from '../../lib/clock.ts'
import { codeOf, FULL_DISK_CODES, hasCode } from '../../lib/system-error.ts'

/** The bytes that an upload may bring, from before its first one until it is stored or failed. */
export interface Allowance extends DiskRoom {
  readonly bytes: number

  /** Allows at least `bytes` in all. @throws {DomainError} `NO_SPACE`. */
  grow(bytes: number): Promise<void>
}

const FIRST_STEP_BYTES: number = 64 * KIB

/** Large enough for a fast upload not to ask the disk for each chunk. */
const LARGEST_STEP_BYTES: number = 32 * MIB

const UNLIMITED: Allowance = {
  bytes: Infinity,
  grow: async () => undefined,
  wrote: () => undefined,
  release: () => undefined,
}

/** How many more bytes are set aside for an upload: as many as it has brought, within bounds. */
export function nextStep(allowed: number, declaredSize: number | undefined): number {
  const step = Math.min(Math.max(allowed, FIRST_STEP_BYTES), LARGEST_STEP_BYTES)
  const isKnown = declaredSize !== undefined && declaredSize > allowed
  return isKnown ? Math.min(step, declaredSize - allowed) : step
}

/** The disk that one folder is on. */
export class DiskSpace {
  readonly #folder: string
  readonly #minFreeBytes: number
  readonly #onFull: (isFull: boolean) => void
  #expendable: Expendable | undefined
  /** One at a time: what one brings may be enough for all who lack room. */
  #givingUp: Promise<boolean> | undefined
  /** Bytes that were promised, and are not written yet. */
  #promised = 0
  /** The smallest upload that found no room, in bytes, until there is room for it again. */
  #refused: number | undefined

  /**
   * @param minFreeBytes The bytes that uploads leave free; 0 switches all checks off.
   * @param onFull Called when an upload finds no room, and when there is room for it again.
   */
  constructor(folder: string, minFreeBytes: number, onFull: (isFull: boolean) => void = () => {}) {
    this.#folder = folder
    this.#minFreeBytes = minFreeBytes
    this.#onFull = onFull
  }

  /** The number of bytes that an unprivileged program may still write to this disk. */
  async free(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#folder)
    return bavail * bsize
  }

  /** The number of bytes that may still be promised; negative where the disk is too full. */
  async available(): Promise<number> {
    return this.#minFreeBytes === 0 ? Infinity : this.#leftOf(await this.free())
  }

  /** The same with all that would be given up for it. */
  async reachable(): Promise<number> {
    return (await this.available()) + this.#expendableBytes
  }

  /** Has something give way from now on where there is no room otherwise. */
  yieldFirst(expendable: Expendable): void {
    this.#expendable = expendable
  }

  /** Checks whether an upload of this size would find room. @throws {DomainError} `NO_SPACE`. */
  async check(bytes: number): Promise<void> {
    const available = await this.reachable()
    if (bytes > available) {
      this.ranOut(bytes)
      throw noSpace()
    }
    this.hadRoom(available)
  }

  /**
   * An allowance that has no room yet.
   *
   * @param declaredSize Size of the whole upload.
   * @param written Bytes of it that are on the disk already.
   */
  allowance(declaredSize?: number, written = 0): Allowance {
    if (this.#minFreeBytes === 0 && this.#expendableBytes === 0) return UNLIMITED
    let promised = written
    return {
      get bytes() {
        return promised
      },
      grow: async (wanted) => {
        if (wanted <= promised) return
        const most = nextStep(promised, declaredSize)
        promised += await this.#promise(wanted - promised, most, wanted)
      },
      wrote: (count) => {
        written += count
        this.#promised -= count
      },
      release: () => {
        this.#promised -= promised - written
        written = promised
      },
    }
  }

  /** Notes that an upload of this many bytes found no room. */
  ranOut(bytes: number): void {
    const isNews = this.#refused === undefined
    this.#refused = Math.min(bytes, this.#refused ?? bytes)
    if (isNews) this.#onFull(true)
  }

  /** Notes that there was room for this many bytes. */
  hadRoom(bytes: number): void {
    if (this.#refused === undefined || bytes < this.#refused) return
    this.#refused = undefined
    this.#onFull(false)
  }

  /**
   * Promises as many bytes as it can: at least `least`, at most `most` where that is more.
   *
   * @param size Bytes of the whole upload, which gives back what it has when it is refused.
   */
  async #promise(least: number, most: number, size: number): Promise<number> {
    let available = this.#leftOf(await this.free())
    // Nothing is given up for what would not fit even then.
    const isLacking = () => least > available && least <= available + this.#expendableBytes
    while (isLacking() && (await this.#giveUp())) {
      available = this.#leftOf(await this.free())
    }
    // Nothing may come between this and the promise: others would be promised the same bytes.
    if (least <= available) this.hadRoom(available)
    else if (this.#minFreeBytes > 0) {
      this.ranOut(size)
      throw noSpace()
    }
    const bytes = Math.max(least, Math.min(most, available))
    this.#promised += bytes
    return bytes
  }

  get #expendableBytes(): number {
    return this.#expendable?.bytes ?? 0
  }

  #giveUp(): Promise<boolean> {
    this.#givingUp ??= this.#expendable?.giveUp().finally(() => (this.#givingUp = undefined))
    return this.#givingUp ?? Promise.resolve(false)
  }

  #leftOf(free: number): number {
    return free - this.#promised - this.#minFreeBytes
  }
}

/**
 * Makes a function that sets room aside for files outside of the data directory, by the rule for
 * uploads.
 *
 * @param folder The folder that `space` is of: what goes to the same file system counts together.
 * @param openSpace Opens the space of a folder on another file system.
 */
export function createReserveRoom(
  folder: string,
  space: DiskSpace,
  openSpace: (folder: string) => DiskSpace,
): ReserveRoom {
  const others = new Map<number, DiskSpace>()
  const spaceOf = async (target: string): Promise<DiskSpace> => {
    const [own, wanted] = await Promise.all([stat(folder), stat(target)])
    if (wanted.dev === own.dev) return space
    const other = others.get(wanted.dev) ?? openSpace(target)
    others.set(wanted.dev, other)
    return other
  }
  return async (bytes, target) => {
    const room = (await spaceOf(target)).allowance(bytes)
    await room.grow(bytes)
    return room
  }
}

function noSpace(): DomainError {
  return new DomainError('NO_SPACE', 'Cannot keep the file: the disk is too full')
}

/** However often it is asked, the disk writes and syncs one byte in this time. */
const FRESH_MS = 10_000

/** A disk that takes longer for a byte is as good as gone: that of a network, or one that fails. */
const PATIENCE_MS = 5_000

/** The disk of one folder. */
export class DiskProbe {
  readonly #folder: string
  readonly #space: Pick<DiskSpace, 'reachable'>
  readonly #clock: Clock
  #asked = Number.NEGATIVE_INFINITY
  #answer: Promise<string | undefined> = Promise.resolve(undefined)
  #isUnderWay = false

  constructor(folder: string, space: Pick<DiskSpace, 'reachable'>, clock: Clock) {
    this.#folder = folder
    this.#space = space
    this.#clock = clock
  }

  /** Why the disk takes nothing, or no upload; `undefined` when it does. At most 10 s old. */
  async trouble(): Promise<string | undefined> {
    const now = this.#clock.monotonic()
    // One at a time: each that hangs holds a thread of the pool.
    if (!this.#isUnderWay && now - this.#asked >= FRESH_MS) {
      this.#asked = now
      this.#isUnderWay = true
      this.#answer = this.#probe().finally(() => (this.#isUnderWay = false))
    }
    return within(this.#clock, PATIENCE_MS, this.#answer, 'the disk does not answer')
  }

  async #probe(): Promise<string | undefined> {
    const path = temporaryPath(join(this.#folder, 'probe'))
    try {
      const file = await open(path, 'wx', 0o600)
      try {
        await file.write('.')
        await file.sync()
      } finally {
        await file.close()
        await unlink(path)
      }
      return (await this.#space.reachable()) > 0 ? undefined : 'the disk is too full for uploads'
    } catch (error) {
      if (hasCode(error, ...FULL_DISK_CODES)) return 'the disk is full'
      if (hasCode(error, 'EROFS')) return 'the disk is read-only'
      return `the disk cannot be written: the system says ${codeOf(error) ?? 'an unknown error'}`
    }
  }
}
