/**
 * Has what others send saved as files, outside of the data directory. It is kept until then: what
 * a stop or a crash cuts short begins again at the next start.
 *
 * A save that fails is tried again, in this run, when another one succeeds, and in the next run.
 * Where there is no room it is given up: there is no telling whether there will ever be. While the
 * folder fails or stands still, what waits gives way to what comes: the oldest of the device that
 * has most of what is short.
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

/** Files that are told as given up: their names and hashes take a few megabytes at most. */
const MAX_TOLD = 10_000

/** A step of a save that takes longer may never end. The sync of a film is one. */
const STEP_MS = 60_000

const STANDS_STILL = 'the folder has not answered for a minute'

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
  /** Whether none of them has come further for so long. */
  #isStill = false
  #stopWatching: () => void = () => undefined
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
    const held = this.#deps.latest.unsaved.filter((one) => {
      return !this.#waiting.has(one) && this.#isHeldUp(one)
    })
    const still = held.map(({ item: { size } }) => ({ reason: STANDS_STILL, size }))
    const parts = [
      describeFailed([...this.#waiting.values(), ...still], 'not saved yet'),
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

  /** Gives up one that waits. */
  async giveUp(): Promise<boolean> {
    let isDone = false
    await this.#deps.alone(async () => {
      const [first] = this.#isEnded ? [] : chooseGoing(this.#expendable(), { bytes: 1 })
      if (first === undefined) return
      // Else it is saved, which could not be noted.
      const isLost = this.#save === undefined || this.#isHeldUp(first)
      await (isLost ? this.#giveUp([first], 'its room was needed') : this.#end([first]))
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
    if (this.#isStill) void this.#note(() => this.#bound())
    try {
      return await work
    } finally {
      if (this.#underWay.get(stored) === work) this.#underWay.delete(stored)
    }
  }

  /** Says that a save has come further. */
  onStep(): void {
    this.#stopWatching()
    if (this.#saving > 0 && !this.#isEnded) {
      this.#stopWatching = this.#deps.clock.after(STEP_MS, () => this.#onStill())
    }
    if (!this.#isStill) return
    this.#isStill = false
    this.#watchers.notify()
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
    this.#stopWatching()
    for (const waiting of this.#waiting.values()) waiting.cancel?.()
    // A save that ends just now is noted, and none after it.
    await this.#deps.alone(async () => undefined)
    return this.#deps.latest.unsaved.length
  }

  async #run(stored: StoredItem): Promise<boolean> {
    this.#saving += 1
    if (this.#saving === 1) this.onStep()
    try {
      await this.#save?.(stored)
    } catch (error) {
      this.#leave()
      // Another one that is being saved gives its room back.
      const isFull = isNoRoom(error) && this.#saving === 0
      await this.#note(() => this.#onFailure(stored, error, isFull))
      return false
    }
    this.#leave()
    this.#waiting.delete(stored)
    this.#givenUp.delete(fileOf(stored))
    await this.#note(() => this.#end([stored, ...this.#sameAs(stored)]))
    this.#tryLeft()
    return true
  }

  #leave(): void {
    this.#saving -= 1
    this.onStep()
  }

  #onStill(): void {
    this.#isStill = true
    this.#deps.logger.warn('Cannot save what was sent yet', { reason: STANDS_STILL })
    void this.#note(() => this.#bound())
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
      return this.#giveUp([stored], reason, fields)
    }
    if (tries === 0) logger.warn('Cannot save what was sent: trying again', fields)
    if (tries === SAVE_RETRIES_MS.length) {
      logger.error('Cannot save what was sent before another file is saved, or a restart', fields)
    }
    const cancel = waitMs === undefined ? undefined : clock.after(waitMs, () => this.#again(stored))
    this.#waiting.set(stored, { reason, size, tries: tries + 1, cancel })
    // The same file may come again and again.
    await this.#end(this.#sameAs(stored))
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

  /** Has some go where too many wait or too little is free, and never the newest. */
  async #bound(): Promise<void> {
    const { latest, storage, minFreeBytes } = this.#deps
    const bytes = minFreeBytes - (await storage.freeBytes())
    const waiting = latest.unsaved.filter((one) => this.#isHeldUp(one))
    const count = waiting.length - MAX_WAITING
    const older = waiting.slice(0, -1).filter((one) => this.#mayGo(one))
    await this.#giveUp(chooseGoing(older, { count, bytes }), 'too much waits')
  }

  /** Whether it waits for a folder that fails or stands still. */
  #isHeldUp(stored: StoredItem): boolean {
    return this.#waiting.has(stored) || (this.#isStill && this.#underWay.has(stored))
  }

  #mayGo(stored: StoredItem): boolean {
    return this.#isStill || !this.#underWay.has(stored)
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
    return unsaved.filter((one) => one.blob !== binary?.blob && this.#mayGo(one))
  }

  /** Lets the bytes go. */
  async #end(items: readonly StoredItem[]): Promise<void> {
    if (items.length === 0) return
    const { latest } = this.#deps
    try {
      await latest.endSaving(...items)
    } finally {
      for (const one of items) {
        if (latest.unsaved.includes(one)) continue
        this.#waiting.get(one)?.cancel?.()
        this.#waiting.delete(one)
      }
    }
  }

  async #giveUp(
    items: readonly StoredItem[],
    reason: string,
    fields: LogFields = {},
  ): Promise<void> {
    await this.#end(items)
    for (const one of items) {
      const { type, size } = one.item
      const told = { type, size, reason, ...fields }
      this.#deps.logger.error('Cannot save what was sent: it is given up', told)
      this.#givenUp.delete(fileOf(one))
      this.#givenUp.set(fileOf(one), { reason, size })
      const [oldest = ''] = this.#givenUp.keys()
      if (this.#givenUp.size > MAX_TOLD) this.#givenUp.delete(oldest)
    }
    this.#watchers.notify()
  }
}

/**
 * Chooses which of those that wait, oldest first, give way: each is of the device that has most of
 * what is short, so that what one device sends costs no other one its files.
 *
 * @param lacking The least that is to go.
 */
function chooseGoing(
  waiting: readonly StoredItem[],
  lacking: { readonly count?: number; readonly bytes?: number },
): readonly StoredItem[] {
  const { count = 0, bytes = 0 } = lacking
  const devices = new Map<string, StoredItem[]>()
  for (const one of waiting) {
    const device = one.item.sender?.deviceId ?? ''
    const own = devices.get(device) ?? []
    own.push(one)
    devices.set(device, own)
  }
  const going: StoredItem[] = []
  while (going.length < count || sizeOf(going) < bytes) {
    const amountOf = going.length < count ? ({ length }: readonly StoredItem[]) => length : sizeOf
    const [most] = [...devices.values()].sort((a, b) => amountOf(b) - amountOf(a))
    const first = most?.shift()
    if (first === undefined) break
    going.push(first)
  }
  return going
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
