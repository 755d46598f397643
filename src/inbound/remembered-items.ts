/**
 * The recent items, in memory: nothing of them is written, and they end with the daemon.
 *
 * What is longer than one item may be, and what was copied as several files, is left out: a small
 * machine has to hold them all.
 * @module
 */

import type { Item } from '../core/item.ts'
import { MAX_RECENT_BYTES, MAX_RECENT_ITEM_BYTES } from '../core/limits.ts'
import { messageOf } from '../lib/describe-failure.ts'
import { only, readWhole } from '../lib/read-bytes.ts'
import { Semaphore } from '../lib/semaphore.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { BlobStore, HashedBlob } from '../ports/blob.ts'
import type { InboundBytes, InboundPipeline, Origin } from '../ports/inbound-pipeline.ts'
import type { StoredItem } from '../ports/latest-item.ts'
import type { Logger } from '../ports/logger.ts'
import type { RecentItem, RecentItems, Sender } from '../ports/panel.ts'

interface RememberedItemsDeps {
  readonly inbound: InboundPipeline
  readonly blobs: Pick<BlobStore, 'receive'>
  readonly logger: Logger
  /** How many are kept. */
  readonly most: number
  /** The sender of what is made current again. */
  readonly owner: Origin & { readonly kind: 'device' }
}

/** The items that were current lately: see {@link RecentItems}. */
export class RememberedItems implements RecentItems {
  readonly #deps: RememberedItemsDeps
  readonly #subscribers = new Subscribers()
  /** Bytes are read for one item at a time. */
  readonly #queue = new Semaphore(1)
  /** The newest first. */
  #entries: readonly RecentItem[] = []
  #last: { readonly activatedAt: number; readonly sender: Sender } | undefined
  #ids = 0

  constructor(deps: RememberedItemsDeps) {
    this.#deps = deps
  }

  get list(): readonly RecentItem[] {
    return this.#entries
  }

  /** Remembers an item that has become current. */
  async add(stored: StoredItem, origin: Origin): Promise<void> {
    const { item, blob } = stored
    const sender = toSender(origin)
    this.#last = { activatedAt: item.activatedAt, sender }
    const isKept = item.type !== 'Group' && item.size <= MAX_RECENT_ITEM_BYTES
    if (isKept && this.#deps.most > 0) {
      await this.#queue.run(async () => {
        const bytes = blob && (await this.#read(blob))
        if (blob === undefined || bytes !== undefined) this.#insert(item, sender, bytes)
      })
    }
    this.#subscribers.notify()
  }

  senderOf({ activatedAt }: Item): Sender | undefined {
    return this.#last?.activatedAt === activatedAt ? this.#last.sender : undefined
  }

  async activate(id: string): Promise<boolean> {
    const entry = this.#entries.find((one) => one.id === id)
    if (entry === undefined) return false
    const { type, text, dataName, bytes } = entry
    const { inbound, blobs, owner } = this.#deps
    const what = { origin: owner, type, text, dataName, hash: '' }
    if (bytes === undefined) {
      await inbound.apply({ ...what, bytes: { kind: 'none' } })
      return true
    }
    const blob = await blobs.receive(only(bytes), { maxBytes: bytes.length })
    const received: InboundBytes = { kind: 'received', blob, mediaType: entry.mediaType }
    try {
      await inbound.apply({ ...what, bytes: received })
    } catch (error) {
      await blob.discard()
      throw error
    }
    return true
  }

  forget(id?: string): boolean {
    const before = this.#entries
    this.#entries = id === undefined ? [] : before.filter((entry) => entry.id !== id)
    this.#subscribers.notify()
    return this.#entries.length < before.length
  }

  onChange(listener: () => void): () => void {
    return this.#subscribers.add(listener)
  }

  /** @returns `undefined` when another item has taken its place, or the copied file is gone. */
  async #read(blob: HashedBlob): Promise<Uint8Array | undefined> {
    try {
      return await readWhole(blob)
    } catch (error) {
      this.#deps.logger.debug('Cannot remember an item', { reason: messageOf(error) })
      return undefined
    }
  }

  #insert(item: Item, sender: Sender, bytes: Uint8Array | undefined): void {
    const { type, text, dataName, mediaType, size, contentHash, contentId, activatedAt } = item
    this.#ids += 1
    const what = { type, text, dataName, mediaType, size, contentHash, contentId, activatedAt }
    const entry: RecentItem = { id: String(this.#ids), ...what, sender, bytes }
    const others = this.#entries.filter((one) => !isSame(one, entry))
    this.#entries = fitting([entry, ...others], this.#deps.most)
  }
}

/** As many of the newest as there may be, and have room together. */
function fitting(entries: readonly RecentItem[], most: number): readonly RecentItem[] {
  let room = MAX_RECENT_BYTES
  return entries.slice(0, most).filter((entry) => {
    room -= memoryOf(entry)
    return room >= 0
  })
}

/** The bytes of a Text are its text; what has bytes also has a text, which is its name. */
function memoryOf({ type, size, text }: RecentItem): number {
  return type === 'Text' ? size : size + 2 * text.length
}

function isSame(a: RecentItem, b: RecentItem): boolean {
  return a.type === b.type && a.contentHash === b.contentHash && a.dataName === b.dataName
}

function toSender(origin: Origin): Sender {
  if (origin.kind === 'clipboard') return { kind: 'clipboard', deviceId: undefined }
  return { kind: origin.kind, deviceId: origin.deviceId }
}
