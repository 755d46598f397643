/**
 * Has what others send saved as files, outside of the data directory. It is kept until then: what
 * a stop or a crash cuts short, and what fails, begins again at the next start.
 * @module
 */

import { GIB } from '../core/limits.ts'
import type { Clock } from '../lib/clock.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import type { LatestItem, StoredItem } from '../ports/latest-item.ts'
import type { Logger } from '../ports/logger.ts'

/** Items whose saving failed that are kept for the next start, and the bytes of all of them. */
const MAX_FAILED = 32
const MAX_FAILED_BYTES: number = GIB

/** Saves the files of an item; resolves when they are on the disk. Files that are there stay. */
export type SaveFiles = (stored: StoredItem) => Promise<unknown>

interface FileSavesDeps {
  readonly latest: Pick<LatestItem, 'unsaved' | 'endSaving'>
  readonly logger: Logger
  readonly clock: Pick<Clock, 'after'>
  /** Runs work while nobody else changes the latest item. */
  readonly alone: (work: () => Promise<void>) => Promise<void>
}

/** The saves of a pipeline. */
export class FileSaves {
  readonly #deps: FileSavesDeps
  readonly #underWay = new Set<Promise<boolean>>()
  readonly #save: SaveFiles
  /** Oldest first. */
  #failed: readonly StoredItem[] = []
  #isEnded = false

  /** Saves what is left from before a restart, too. */
  constructor(deps: FileSavesDeps, save: SaveFiles) {
    this.#deps = deps
    this.#save = save
    for (const stored of deps.latest.unsaved) void this.run(stored)
  }

  /** Whether what is not saved by now stays for the next start. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /**
   * Saves an item that is among the unsaved ones. A failure is logged, and the next start tries
   * again. There is no telling whether there will ever be room: where too much has failed, the
   * oldest is given up, and never the newest.
   *
   * @returns Whether its files are there.
   */
  async run(stored: StoredItem): Promise<boolean> {
    if (this.#isEnded) return false
    const work = this.#run(stored)
    this.#underWay.add(work)
    try {
      return await work
    } finally {
      this.#underWay.delete(work)
    }
  }

  /**
   * Waits for what is under way, `graceMs` at most.
   *
   * @returns How many items are left for the next start.
   */
  async end(graceMs: number): Promise<number> {
    let cancel: (() => void) | undefined
    const late = new Promise<void>((resolve) => {
      cancel = this.#deps.clock.after(graceMs, resolve)
    })
    if (graceMs > 0) await Promise.race([Promise.all(this.#underWay), late])
    cancel?.()
    this.#isEnded = true
    // A save that ends just now is noted, and none after it.
    await this.#deps.alone(async () => undefined)
    return this.#deps.latest.unsaved.length
  }

  async #run(stored: StoredItem): Promise<boolean> {
    const { latest, logger, alone } = this.#deps
    let isSaved = false
    try {
      await this.#save(stored)
      isSaved = true
    } catch (error) {
      if (this.#isEnded) return false
      const { type } = stored.item
      logger.error('Cannot save what was sent', { type, ...describeFailure(error) })
    }
    const over = this.#takeSame(stored)
    over.push(...(isSaved ? [stored] : this.#keepFailed(stored)))
    try {
      await alone(async () => {
        for (const one of over) if (!this.#isEnded) await latest.endSaving(one)
      })
    } catch (error) {
      logger.error('Cannot note that files were saved', { ...describeFailure(error) })
    }
    return isSaved
  }

  /** @returns Those that failed before of the same file, which has come again. */
  #takeSame({ item: { contentHash, dataName } }: StoredItem): StoredItem[] {
    const same = this.#failed.filter(({ item }) => {
      return item.contentHash === contentHash && item.dataName === dataName
    })
    this.#failed = this.#failed.filter((one) => !same.includes(one))
    return same
  }

  /** @returns Those that are given up. */
  #keepFailed(newest: StoredItem): readonly StoredItem[] {
    let bytes = newest.item.size
    const kept = [newest]
    for (const one of this.#failed.toReversed()) {
      bytes += one.item.size
      if (kept.length === MAX_FAILED || bytes > MAX_FAILED_BYTES) break
      kept.unshift(one)
    }
    const over = this.#failed.filter((one) => !kept.includes(one))
    this.#failed = kept
    return over
  }
}
