/**
 * Keeps uploads from filling the disk: what is free, less what uploads under way were promised.
 *
 * @module
 */

import { statfs } from 'node:fs/promises'
import { DomainError } from '../core/domain-error.ts'
import { MIB } from '../core/limits.ts'
import type { Allowance } from './allowance.ts'

/** For uploads of unknown size, so that not every chunk asks the disk. */
const STEP_BYTES: number = 32 * MIB

const UNLIMITED: Allowance = {
  bytes: Infinity,
  grow: async () => undefined,
  wrote: () => undefined,
  release: () => undefined,
}

export class DiskSpace {
  readonly #folder: string
  readonly #minFreeBytes: number
  /** Promised, and not written yet. */
  #promised = 0

  /** @param minFreeBytes What uploads leave free; 0 switches all checks off. */
  constructor(folder: string, minFreeBytes: number) {
    this.#folder = folder
    this.#minFreeBytes = minFreeBytes
  }

  /** What an unprivileged program may still write to this disk. */
  async free(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#folder)
    return bavail * bsize
  }

  /**
   * Checks whether an upload of this size would find room.
   *
   * @throws {DomainError} `NO_SPACE`.
   */
  async check(bytes: number): Promise<void> {
    const allowance = await this.allow(bytes)
    allowance.release()
  }

  /**
   * An allowance of `bytes`, which the disk has room for.
   *
   * @throws {DomainError} `NO_SPACE`.
   */
  async allow(bytes: number): Promise<Allowance> {
    if (this.#minFreeBytes === 0) return UNLIMITED
    let promised = await this.#promise(bytes, bytes)
    let written = 0
    return {
      get bytes() {
        return promised
      },
      grow: async (wanted) => {
        if (wanted > promised) promised += await this.#promise(wanted - promised, STEP_BYTES)
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

  /** Promises as many bytes as it can: at least `least`, at most `most` where that is more. */
  async #promise(least: number, most: number): Promise<number> {
    const free = await this.free()
    // Nothing may come between this and the promise: others would be promised the same bytes.
    const available = free - this.#promised - this.#minFreeBytes
    if (least > available) throw noSpace()
    const bytes = Math.max(least, Math.min(most, available))
    this.#promised += bytes
    return bytes
  }
}

function noSpace(): DomainError {
  return new DomainError('NO_SPACE', 'Cannot keep the upload: the disk is too full')
}
