/** Finds out whether a disk still takes what is written, before somebody's upload does. @module */

import { open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryPath } from '../../lib/atomic-file.ts'
import { within, type Clock } from '../../lib/clock.ts'
import { codeOf, FULL_DISK_CODES, hasCode } from '../../lib/system-error.ts'
import type { DiskSpace } from './disk-space.ts'

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
