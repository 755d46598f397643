/**
 * Keeps files that come from filling the disk: what is free, less what those under way were
 * promised.
 *
 * @module
 */

import { statfs } from 'node:fs/promises'
import { DomainError } from '../core/domain-error.ts'
import { nextStep, type Allowance } from './allowance.ts'

const UNLIMITED: Allowance = {
  bytes: Infinity,
  grow: async () => undefined,
  wrote: () => undefined,
  release: () => undefined,
}

export class DiskSpace {
  readonly #folder: string
  readonly #minFreeBytes: number
  readonly #onFull: (isFull: boolean) => void
  /** Promised, and not written yet. */
  #promised = 0
  /** The least that found no room, until there is room for it again. */
  #refused: number | undefined

  /**
   * @param minFreeBytes What uploads leave free; 0 switches all checks off.
   * @param onFull Told when an upload finds no room, and when there is room for it again.
   */
  constructor(folder: string, minFreeBytes: number, onFull: (isFull: boolean) => void = () => {}) {
    this.#folder = folder
    this.#minFreeBytes = minFreeBytes
    this.#onFull = onFull
  }

  /** What an unprivileged program may still write to this disk. */
  async free(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#folder)
    return bavail * bsize
  }

  /** What may still be promised; less than nothing where the disk is too full already. */
  async available(): Promise<number> {
    return this.#minFreeBytes === 0 ? Infinity : this.#leftOf(await this.free())
  }

  /**
   * Checks whether an upload of this size would find room.
   *
   * @throws {DomainError} `NO_SPACE`.
   */
  async check(bytes: number): Promise<void> {
    const available = await this.available()
    if (bytes > available) {
      this.ranOut(bytes)
      throw noSpace()
    }
    this.hadRoom(available)
  }

  /**
   * An allowance of `bytes`, which the disk has room for.
   *
   * @param declaredSize Of the whole, for its steps.
   * @throws {DomainError} `NO_SPACE`.
   */
  async allow(bytes: number, declaredSize?: number): Promise<Allowance> {
    if (this.#minFreeBytes === 0) return UNLIMITED
    let promised = await this.#promise(bytes, bytes, bytes)
    let written = 0
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

  /** Notes that an upload of so many bytes found no room. */
  ranOut(bytes: number): void {
    const isNews = this.#refused === undefined
    this.#refused = Math.min(bytes, this.#refused ?? bytes)
    if (isNews) this.#onFull(true)
  }

  /** Notes that there was room for so many bytes. */
  hadRoom(bytes: number): void {
    if (this.#refused === undefined || bytes < this.#refused) return
    this.#refused = undefined
    this.#onFull(false)
  }

  /**
   * Promises as many bytes as it can: at least `least`, at most `most` where that is more.
   *
   * @param size Of the whole upload, which gives back what it has when it is refused.
   */
  async #promise(least: number, most: number, size: number): Promise<number> {
    const free = await this.free()
    const available = this.#leftOf(free)
    // Nothing may come between this and the promise: others would be promised the same bytes.
    if (least > available) {
      this.ranOut(size)
      throw noSpace()
    }
    this.hadRoom(available)
    const bytes = Math.max(least, Math.min(most, available))
    this.#promised += bytes
    return bytes
  }

  #leftOf(free: number): number {
    return free - this.#promised - this.#minFreeBytes
  }
}

function noSpace(): DomainError {
  return new DomainError('NO_SPACE', 'Cannot keep the file: the disk is too full')
}
