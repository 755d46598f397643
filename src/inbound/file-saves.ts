/**
 * Has what others send saved as files, outside of the data directory. It is kept until then: what
 * a stop or a crash cuts short begins again at the next start.
 *
 * A save that fails is tried again, in this run, when another one succeeds, and in the next run.
 * Where there is no room it is given up: there is no telling whether there will ever be. So is the
 * oldest that waits where something that comes needs its room.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { SAVE_RETRIES_MS } from '../lib/back-off.ts'
import type { Clock } from '../lib/clock.ts'
import { countOf } from '../lib/count-of.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { formatBytes } from '../lib/format-bytes.ts'
import { Subscribers } from '../lib/subscribers.ts'
import { FULL_DISK_CODES, hasCode, wordsOf } from '../lib/system-error.ts'
import type { Expendable } from '../ports/disk-room.ts'
import type { LatestItem, StoredItem } from '../ports/latest-item.ts'
import type { LogFields, Logger } from '../ports/logger.ts'

/** Each push writes all that wait into one small file. */
const MAX_WAITING = 100

/** Saves the files of an item; resolves when they are there. Files that are there stay. */
export type SaveFiles = (stored: StoredItem) => Promise<unknown>

interface FileSavesDeps {
  readonly latest: Pick<LatestItem, 'binary' | 'unsaved' | 'endSaving'>
  readonly logger: Logger
  readonly clock: Pick<Clock, 'after'>
  /** The disk that the bytes are on. */
  readonly storage: { freeBytes(): Promise<number> }
  /** Bytes of it that files which wait leave free. */
  readonly minFreeBytes: number
  /** Runs work while nobody else changes the latest item. */
  readonly alone: (work: () => Promise<void>) => Promise<void>
}

/** A save that has failed. */
interface Failed {
  readonly reason: string
  readonly size: number
}

interface Waiting extends Failed {
  readonly tries: number
  /** Ends the wait for the next try. */
  readonly cancel: (() => void) | undefined
}

/** The saves of a pipeline. */
export class FileSaves implements Expendable {
  readonly #deps: FileSavesDeps
  readonly #save: SaveFiles | undefined
  readonly #underWay = new Map<StoredItem, Promise<boolean>>()
  readonly #waiting = new Map<StoredItem, Waiting>()
  /** By file; the newest is the last. */
  readonly #givenUp = new Map<string, Failed>()
  /** Those from before a restart. */
  readonly #old: ReadonlySet<StoredItem>
  readonly #watchers = new Subscribers()
  /** How many are being saved right now. */
  #saving = 0
  #isEnded = false

  /**
   * Saves what is left from before a restart, too.
   *
   * @param save Without it nothing is saved: what is left stays for a later start.
   */
  constructor(deps: FileSavesDeps, save?: SaveFiles) {
    this.#deps = deps
    this.#save = save
    this.#old = new Set(deps.latest.unsaved)
    if (save !== undefined) for (const stored of this.#old) void this.run(stored)
  }

  /** Whether what is not saved by now stays for the next start. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Whether something is being saved, or noted, right now. */
  get isBusy(): boolean {
    return this.#underWay.size > 0
  }

  /** How many wait or were given up since the start, without names; `undefined` for none. */
  get trouble(): string | undefined {
    const parts = [
      describeFailed([...this.#waiting.values()], 'not saved yet'),
      describeFailed([...this.#givenUp.values()], 'given up'),
    ].filter((part) => part !== undefined)
    return parts.length === 0 ? undefined : parts.join('; ')
  }

  /** Calls `listener` when the trouble has changed. @returns Ends the subscription. */
  onChange(listener: () => void): () => void {
    return this.#watchers.add(listener)
  }

  get bytes(): number {
    return sizeOf(this.#expendable())
  }

  /** Gives up the oldest that waits. */
  async giveUp(): Promise<boolean> {
    let isDone = false
    await this.#deps.alone(async () => {
      const [oldest] = this.#isEnded ? [] : this.#expendable()
      if (oldest === undefined) return
      // Else it is saved, which could not be noted.
      const isLost = this.#save === undefined || this.#waiting.has(oldest)
      await (isLost ? this.#giveUp(oldest, 'its room was needed') : this.#end(oldest))
      isDone = true
    })
    return isDone
  }

  /**
   * Saves an item that is among the unsaved ones. A failure is logged, and the item waits for
   * another try or is given up.
   *
   * @returns Whether its files are there; `false` after the first failure.
   */
  async run(stored: StoredItem): Promise<boolean> {
    if (this.#isEnded) return false
    const work = this.#run(stored)
    this.#underWay.set(stored, work)
    try {
      return await work
    } finally {
      if (this.#underWay.get(stored) === work) this.#underWay.delete(stored)
    }
  }

  /**
   * Waits for what is under way, `graceMs` at most, and for no further try.
   *
   * @returns How many items are left for the next start.
   */
  async end(graceMs: number): Promise<number> {
    let cancel: (() => void) | undefined
    const late = new Promise<void>((resolve) => {
      cancel = this.#deps.clock.after(graceMs, resolve)
    })
    if (graceMs > 0) await Promise.race([Promise.all(this.#underWay.values()), late])
    cancel?.()
    this.#isEnded = true
    for (const waiting of this.#waiting.values()) waiting.cancel?.()
    // A save that ends just now is noted, and none after it.
    await this.#deps.alone(async () => undefined)
    return this.#deps.latest.unsaved.length
  }

  async #run(stored: StoredItem): Promise<boolean> {
    this.#saving += 1
    try {
      await this.#save?.(stored)
    } catch (error) {
      this.#saving -= 1
      // Another one that is being saved gives its room back.
      const isFull = isNoRoom(error) && this.#saving === 0
      await this.#note(() => this.#onFailure(stored, error, isFull))
      return false
    }
    this.#saving -= 1
    this.#waiting.delete(stored)
    this.#givenUp.delete(fileOf(stored))
    await this.#note(async () => {
      for (const one of [stored, ...this.#sameAs(stored)]) await this.#end(one)
    })
    this.#tryLeft()
    return true
  }

  async #note(work: () => Promise<void>): Promise<void> {
    const { logger, alone } = this.#deps
    try {
      await alone(async () => {
        if (!this.#isEnded) await work()
      })
    } catch (error) {
      logger.error('Cannot note what was saved or given up', { ...describeFailure(error) })
    }
    this.#watchers.notify()
  }

  async #onFailure(stored: StoredItem, error: unknown, isFull: boolean): Promise<void> {
    const { latest, logger, clock } = this.#deps
    // Its room was needed meanwhile.
    if (!latest.unsaved.includes(stored)) return void this.#waiting.delete(stored)
    const { type, size } = stored.item
    const { tries = 0 } = this.#waiting.get(stored) ?? {}
    const waitMs = isFull ? undefined : SAVE_RETRIES_MS[tries]
    const fields = { type, size, ...describeFailure(error) }
    const reason = reasonOf(error)
    if (isFull || (waitMs === undefined && this.#old.has(stored))) {
      // A full disk may have no room to note that: it is kept then.
      this.#waiting.set(stored, { reason, size, tries: tries + 1, cancel: undefined })
      return this.#giveUp(stored, reason, fields)
    }
    if (tries === 0) logger.warn('Cannot save what was sent: trying again', fields)
    if (tries === SAVE_RETRIES_MS.length) {
      logger.error('Cannot save what was sent before another file is saved, or a restart', fields)
    }
    const cancel = waitMs === undefined ? undefined : clock.after(waitMs, () => this.#again(stored))
    this.#waiting.set(stored, { reason, size, tries: tries + 1, cancel })
    // The same file may come again and again.
    for (const one of this.#sameAs(stored)) await this.#end(one)
    await this.#bound()
  }

  #again(stored: StoredItem): void {
    void this.run(stored)
  }

  /** The folder can be used: one that waits for that is tried, and when it is saved the next. */
  #tryLeft(): void {
    const left = [...this.#waiting].filter(([one, { cancel }]) => {
      return cancel === undefined && !this.#underWay.has(one)
    })
    const [next] = left.toSorted(([, one], [, other]) => one.tries - other.tries)
    if (next !== undefined) this.#again(next[0])
  }

  /** Has the oldest go where too many wait or too little is free, and never the newest. */
  async #bound(): Promise<void> {
    const { latest, storage, minFreeBytes } = this.#deps
    let free = await storage.freeBytes()
    const waiting = latest.unsaved.filter((one) => this.#waiting.has(one))
    let over = waiting.length - MAX_WAITING
    for (const one of waiting.slice(0, -1)) {
      if (over <= 0 && free >= minFreeBytes) return
      if (this.#underWay.has(one)) continue
      await this.#giveUp(one, 'too much waits')
      free += one.item.size
      over -= 1
    }
  }

  /** Those that wait for the same file. */
  #sameAs(stored: StoredItem): readonly StoredItem[] {
    return [...this.#waiting.keys()].filter((one) => {
      return one !== stored && fileOf(one) === fileOf(stored) && !this.#underWay.has(one)
    })
  }

  /** Those that giving up brings room, oldest first. */
  #expendable(): readonly StoredItem[] {
    const { unsaved, binary } = this.#deps.latest
    return unsaved.filter((one) => one.blob !== binary?.blob && !this.#underWay.has(one))
  }

  /** Lets the bytes go. */
  async #end(stored: StoredItem): Promise<void> {
    const { latest } = this.#deps
    try {
      await latest.endSaving(stored)
    } finally {
      if (!latest.unsaved.includes(stored)) {
        this.#waiting.get(stored)?.cancel?.()
        this.#waiting.delete(stored)
      }
    }
  }

  async #giveUp(stored: StoredItem, reason: string, fields: LogFields = {}): Promise<void> {
    await this.#end(stored)
    const { type, size } = stored.item
    const told = { type, size, reason, ...fields }
    this.#deps.logger.error('Cannot save what was sent: it is given up', told)
    this.#givenUp.delete(fileOf(stored))
    this.#givenUp.set(fileOf(stored), { reason, size })
    const [oldest = ''] = this.#givenUp.keys()
    if (this.#givenUp.size > MAX_WAITING) this.#givenUp.delete(oldest)
    this.#watchers.notify()
  }
}

function fileOf({ item: { contentHash, dataName } }: StoredItem): string {
  return `${contentHash} ${dataName}`
}

function isNoRoom(error: unknown): boolean {
  const isRefused = error instanceof DomainError && error.code === 'NO_SPACE'
  return isRefused || hasCode(error, ...FULL_DISK_CODES)
}

/** For the owner; nothing that messages quote. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && 'syscall' in error) return wordsOf(error)
  return describeFailure(error).reason.replace(/^\w+: (?=.)/, '')
}

function describeFailed(failed: readonly Failed[], how: string): string | undefined {
  const last = failed.at(-1)
  if (last === undefined) return undefined
  const bytes = failed.reduce((sum, { size }) => sum + size, 0)
  return `${countOf(failed.length, 'item')} (${formatBytes(bytes)}) ${how}: ${last.reason}`
}

function sizeOf(items: readonly StoredItem[]): number {
  return items.reduce((sum, { item }) => sum + item.size, 0)
}
