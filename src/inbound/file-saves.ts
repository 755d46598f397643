/**
 * Has what others send saved as files, outside of the data directory. It is kept until then: what
 * a stop or a crash cuts short begins again at the next start.
 * @module
 */

import type { Clock } from '../lib/clock.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import type { LatestItem, StoredItem } from '../ports/latest-item.ts'
import type { Logger } from '../ports/logger.ts'

/** Saves the files of an item; resolves when they are there. Files that are there stay. */
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
   * Saves an item that is among the unsaved ones. A failure is logged, and is the end of it: there
   * is no telling whether there will ever be room.
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
    try {
      await alone(async () => {
        if (!this.#isEnded) await latest.endSaving(stored)
      })
    } catch (error) {
      logger.error('Cannot note that files were saved', { ...describeFailure(error) })
    }
    return isSaved
  }
}
