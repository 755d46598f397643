/**
 * The one way in: identify, recognise repetitions, store, publish; then answer; then effects.
 *
 * Reading and hashing, which take long, happen in a queue of the sender's own. Only what decides
 * about the current item happens in the queue of all, in which each sender has one item at most: so
 * nobody waits for more than one item of anybody else.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { tell } from '../core/happening.ts'
import { looksAlike, withAlias, type Item, type Sender } from '../core/item.ts'
import { MAX_METADATA_BYTES, REPEAT_PUSH_MS } from '../core/limits.ts'
import { hashBytes } from '../hashing/file-hasher.ts'
import { withChanges } from '../lib/long-text.ts'
import { Semaphore, type OwnTurn } from '../lib/semaphore.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { hasCode } from '../lib/system-error.ts'
import type { Blob, BlobStore, HashedBlob } from '../ports/blob.ts'
import { within, type Clock } from '../lib/clock.ts'
import type { DeviceRegistry } from '../ports/device-registry.ts'
import type {
  AppliedItem,
  InboundItem,
  InboundPipeline,
  Origin,
} from '../ports/inbound-pipeline.ts'
import type { LatestItem, StoredItem } from '../ports/latest-item.ts'
import type { Logger } from '../ports/logger.ts'
import type { StagingArea } from '../ports/staging-area.ts'
import type { ChangeHub } from './change-hub.ts'
import type { FileSaves } from './file-saves.ts'
import { RememberedMd5 } from './remembered-md5.ts'
import { deviceOf, findMeant, nothingStaged, type NamedBytes } from './find-meant.ts'
import {
  aliasesOf,
  describeItem,
  isSame,
  resolveContent,
  takeUpload,
  type HashText,
  type NewContent,
  type ResolveDeps,
} from './resolve-content.ts'
import { SenderQueues } from './sender-queues.ts'
import { StampOrder, type Member } from './stamp-order.ts'

/** Work that is done after the sender has been answered; a failure is logged. */
export type Effect = (stored: StoredItem, origin: Origin, how: Applied) => Promise<void>

/** How an item became current. */
export interface Applied {
  /** Whether it is saved as files, too: see {@link ClipboardPipeline.saveFiles}. */
  readonly isSaved: boolean
}

/** The parts that a {@link ClipboardPipeline} works with. */
export interface PipelineDeps {
  readonly staging: Pick<StagingArea, 'take' | 'takeBatch'>
  /** Needed where there are Groups. */
  readonly blobs?: Pick<BlobStore, 'bundle' | 'groupHashOf'> | undefined
  readonly latest: LatestItem
  readonly changes: ChangeHub
  readonly clock: Clock
  readonly logger: Logger
  /** The longest text that may become an item, in bytes of JSON. */
  readonly maxTextBytes?: number | undefined
  /** Hashes texts, also long ones: on this thread, unless it is given. */
  readonly hashText?: HashText | undefined
  /** This daemon as the one that stamps new items; needed where there is a group. */
  readonly member?: Member | undefined
  /** The devices whose pushes count. Without it everybody's do. */
  readonly devices?: Pick<DeviceRegistry, 'isValid'> | undefined
}

interface Activation {
  readonly result: AppliedItem
  /** Whether the item was written; else it was there already. */
  readonly isStored: boolean
}

/** A share of the user that takes longer may hang, and its sender has more to push. */
const LOOK_MS = 5000

/** More than come in the time that it takes to put one on a clipboard. */
const MAX_REPLACED = 8

/** The word for the log. */
const MADE_CURRENT = { device: 'pushed', peer: 'received', clipboard: 'copied' } as const

interface LastPush extends Pick<InboundItem, 'origin'> {
  /** As `Clock.monotonic` has it. */
  readonly at: number
}

/** The one pipeline of a daemon: see {@link InboundPipeline}. */
export class ClipboardPipeline implements InboundPipeline {
  readonly #senders = new SenderQueues()
  /** One queue for all, for what reads or changes the current item. */
  readonly #queue = new Semaphore(1)
  readonly #md5 = new RememberedMd5()
  readonly #deps: PipelineDeps
  readonly #order: StampOrder
  readonly #effects: Effect[] = []
  #saves: FileSaves | undefined
  /** The push that made the current item current, for telling a repetition. */
  #lastPush: LastPush | undefined

  constructor(deps: PipelineDeps) {
    this.#deps = deps
    this.#order = new StampOrder(deps)
  }

  /** Runs `effect` for every item that becomes current from now on. */
  addEffect(effect: Effect): void {
    this.#effects.push(effect)
  }

  /**
   * Has the files, Groups and batches that others send saved from now on, and what is left of them
   * from before a restart. Their bytes stay until that has ended.
   */
  saveFiles(saves: FileSaves): void {
    this.#saves = saves
  }

  /** Runs work while nobody else changes the latest item. */
  alone(work: () => Promise<void>): Promise<void> {
    return this.#queue.run(work)
  }

  /** The time of a stamp for what is copied now; `undefined` where there is no circle. */
  stampNow(): number | undefined {
    return this.#order.stampFor({ kind: 'clipboard' })?.at
  }

  apply(inbound: InboundItem): Promise<AppliedItem> {
    return this.#senders.run(senderOf(inbound.origin), (turn) => this.#apply(inbound, turn))
  }

  /**
   * Breaks off what takes long for a device whose credential is gone. Resolves when every item that
   * it sent has become current, or was refused.
   */
  shutOut(deviceId: string): Promise<void> {
    return this.#senders.interrupt(deviceKey(deviceId), credentialGone())
  }

  /** Refuses items from now on. Resolves when nothing is done any more for those that came. */
  async close(): Promise<void> {
    const reason = 'Cannot apply the item: the station is closed'
    await this.#senders.close(new DomainError('STATION_CLOSED', reason))
    await this.#saves?.end(0)
  }

  async #apply(inbound: InboundItem, turn: OwnTurn): Promise<AppliedItem> {
    const { origin, hash, bytes } = inbound
    this.#judge(origin)
    this.#order.check(origin)
    const deps = this.#resolveDeps(turn)
    if (this.#order.isOutdated(origin, inbound, hash)) {
      const came = bytes.kind === 'received' ? bytes.blob : await takeUpload(inbound, deps)
      await came?.discard()
      return this.#leftOut().result
    }
    const content = await resolveContent(inbound, deps)
    if (content === undefined) return this.#applyKnown(inbound, turn)

    let applied: Activation | undefined
    try {
      applied = await this.#applyNew(inbound, content, turn)
    } finally {
      if (applied === undefined) content.endings.giveBack()
    }
    await this.#endContent(content, applied.isStored)
    return applied.result
  }

  #resolveDeps(turn: OwnTurn): ResolveDeps {
    const { maxTextBytes = MAX_METADATA_BYTES, hashText = hashBytes } = this.#deps
    const { signal } = turn
    const md5Of = async (blob: HashedBlob) => {
      await this.#inTime(turn, blob, this.#md5.learn(blob))
      return this.#md5.find(blob)
    }
    const look = (blob: HashedBlob) => this.#inTime(turn, blob, this.#deps.latest.prepare(blob))
    return { ...this.#deps, maxTextBytes, hashText, md5Of, look, signal }
  }

  /** The sender has no bytes, and must mean an item that is here. */
  async #applyKnown(inbound: InboundItem, turn: OwnTurn): Promise<AppliedItem> {
    const { latest } = this.#deps
    let prepared: Blob | undefined
    for (;;) {
      const result = await this.#queue.run(async () => {
        const { origin, hash } = inbound
        if (this.#order.isOutdated(origin, inbound, hash)) return this.#leftOut()
        const meant = findMeant(inbound, latest, (blob) => this.#md5.find(blob))
        if (meant.kind === 'undecided') return meant
        const { stored, as } = meant
        // A file of the user may be gone, or its share may hang: nobody else waits for that.
        if (stored.blob !== prepared) return { kind: 'unprepared', blob: stored.blob } as const
        const item = as === undefined ? stored.item : await this.#rename(inbound, as)
        const aliases = withAlias(item, inbound.hash)
        return this.#activate(inbound, withChanges(item, { aliases }), stored.blob)
      })
      if (!('kind' in result)) return result.result
      const { kind, blob } = result
      // Meanwhile another item may have taken its place, so it is looked for again.
      if (blob !== undefined) {
        const look = kind === 'undecided' ? this.#md5.learn(blob) : latest.prepare(blob)
        await this.#inTime(turn, blob, look)
      }
      prepared = blob
    }
  }

  /** @throws {DomainError} `NOTHING_STAGED` when files of the user are gone or do not answer. */
  async #inTime(turn: OwnTurn, { isOfUser }: HashedBlob, look: Promise<void>): Promise<void> {
    if (!isOfUser) return turn.guard(look)
    const seen = look.catch((error: unknown) => {
      throw hasCode(error, 'BLOB_GONE') ? nothingStaged() : error
    })
    const isLate = await turn.guard(within<unknown>(this.#deps.clock, LOOK_MS, seen, true))
    if (isLate) throw nothingStaged()
  }

  /** Makes the item that another member has, of bytes that are here. */
  async #rename(inbound: InboundItem, as: NamedBytes): Promise<Item> {
    const item = await describeItem(inbound, as, this.#deps.clock.now())
    return withChanges(item, { aliases: aliasesOf(item, inbound.hash, this.#deps.latest) })
  }

  async #applyNew(inbound: InboundItem, content: NewContent, turn: OwnTurn): Promise<Activation> {
    const { latest, clock } = this.#deps
    const item = await describeItem(inbound, content, clock.now())
    // Old automations push an empty text by accident; it must never blank a clipboard.
    if (content.kind === 'text' && content.size === 0) return this.#leftOut(item)
    const blob = content.kind === 'bytes' ? content.blob : undefined
    if (blob !== undefined) await turn.guard(latest.prepare(blob))
    return this.#queue.run(async () => {
      const aliases = aliasesOf(item, inbound.hash, latest)
      return this.#activate(inbound, withChanges(item, { aliases }), blob)
    })
  }

  /** The result for what does not become current. @param item It, where nothing may be current. */
  #leftOut(item?: Item): Activation {
    return { result: { ...this.#currentResult(item), item: undefined }, isStored: false }
  }

  /** The item is current already: what goes wrong here is for the log, not for the sender. */
  async #endContent({ kind, endings }: NewContent, isStored: boolean): Promise<void> {
    try {
      await (isStored && kind === 'bytes' ? endings.release() : endings.discard())
    } catch (error) {
      this.#deps.logger.error('Cannot clean up after an upload', { ...describeFailure(error) })
    }
  }

  async #activate(
    inbound: InboundItem,
    item: Item,
    blob: HashedBlob | undefined,
  ): Promise<Activation> {
    const { origin, bytes } = inbound
    const { latest, changes, clock, logger } = this.#deps
    // Finding the content took time, and nothing may come between this and the writing.
    this.#judge(origin)
    // A document may call it otherwise than it is called here.
    if (this.#order.isOutdated(origin, item, item.contentHash)) return this.#leftOut()
    const current = latest.current?.item
    const isCopy = origin.kind === 'clipboard'
    if (current !== undefined && this.#isRepetition(current, item, inbound)) {
      const kept = latest.current?.blob
      // A file that was written again with the same bytes is there only as what it is now.
      const isFresh = isCopy && kept?.isOfUser === true && blob?.isOfUser === true
      await this.#learn(current, item.aliases, isFresh ? blob : kept)
      return { result: this.#currentResult(), isStored: isFresh }
    }

    const stamp = this.#order.stampFor(origin)
    if (origin.kind === 'peer' && current !== undefined && looksAlike(current, item)) {
      await latest.put(withChanges(current, { stamp }), latest.current?.blob)
      changes.publishStamp()
      return { result: this.#currentResult(), isStored: false }
    }

    const isWanted = bytes.kind === 'batch' || item.type !== 'Image'
    const isToSave = this.#saves !== undefined && isWanted && !isCopy && blob !== undefined
    const { contentHash = [], replaced: earlier = [] } = (!isCopy && current) || {}
    const replaced = earlier.concat(contentHash)
    // The oldest, which was copied, is there for as long as nothing can be written.
    replaced.splice(1, replaced.length - MAX_REPLACED)
    const sender: Sender = { kind: origin.kind, deviceId: deviceOf(origin) }
    const place = { activatedAt: clock.now(), stamp, sender, replaced }
    const stored = await latest.put(withChanges(item, place), blob, { isToSave })
    this.#lastPush = { origin, at: clock.monotonic() }
    const { contentId, activatedAt, type, size } = stored.item
    changes.publish({ contentId, activatedAt })
    tell(logger, { kind: MADE_CURRENT[origin.kind], device: sender.deviceId, type, size })
    const saving = (isToSave && this.#saves?.run(stored)) || Promise.resolve(false)
    for (const effect of this.#effects)
      this.#runLater(effect, stored, origin, { isSaved: isToSave })
    const saved = bytes.kind === 'batch' ? saving : undefined
    return { result: { contentId, item: stored.item, saved }, isStored: true }
  }

  #judge(origin: Origin): void {
    if (origin.kind === 'clipboard' || origin.deviceId === undefined) return
    if (this.#deps.devices?.isValid(origin) !== false) return
    throw credentialGone()
  }

  #currentResult(otherwise?: Item): AppliedItem {
    const item = this.#deps.latest.current?.item ?? otherwise
    if (item === undefined) throw new Error('There is no current item')
    return { contentId: item.contentId, item }
  }

  /** Learns what the current item is called, and where its bytes are. It is not activated. */
  async #learn(
    current: Item,
    aliases: readonly string[],
    blob: HashedBlob | undefined,
  ): Promise<void> {
    const { latest } = this.#deps
    if (aliases.at(-1) === current.aliases.at(-1) && blob === latest.current?.blob) return
    await latest.put(withChanges(current, { aliases }), blob)
  }

  /** A phone that sends one push twice, or a desktop program that copies what is there already. */
  #isRepetition(current: Item, item: Item, { origin }: InboundItem): boolean {
    if (!isSame(current, item)) return false
    if (origin.kind === 'clipboard') return true
    if (current.dataName !== item.dataName) return false
    const last = this.#lastPush
    if (last?.origin.kind !== 'device' || last.origin.deviceId !== origin.deviceId) return false
    return this.#deps.clock.monotonic() - last.at < REPEAT_PUSH_MS
  }

  #runLater(effect: Effect, stored: StoredItem, origin: Origin, how: Applied): void {
    setImmediate(async () => {
      try {
        await effect(stored, origin, how)
      } catch (error) {
        // The next start goes on with files that could not be handed on for that reason.
        if (this.#saves?.isEnded === true) return
        const failure = { type: stored.item.type, ...describeFailure(error) }
        this.#deps.logger.error('Cannot hand the item on', failure)
      }
    })
  }
}

function credentialGone(): DomainError {
  return new DomainError('CREDENTIAL_GONE', 'Cannot apply the item: its sender was shut out')
}

function senderOf(origin: Origin): string {
  return origin.kind === 'clipboard' ? 'clipboard' : deviceKey(origin.deviceId ?? '')
}

function deviceKey(deviceId: string): string {
  return `device ${deviceId}`
}
