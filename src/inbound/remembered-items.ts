/**
 * The recent items, in memory: nothing of them is written, and they end with the daemon. Each is
 * its bytes, and readers get these in blocks: one that reads nothing keeps none of them.
 *
 * What is longer than one item may be, and what was copied as several files, is left out: a small
 * machine has to hold them all.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import type { Item } from '../core/item.ts'
import { KIB, MAX_RECENT_BYTES } from '../core/limits.ts'
import { describeFailure } from '../lib/describe-failure.ts'
import { utf8Of } from '../lib/long-text.ts'
import { only, readWhole } from '../lib/read-bytes.ts'
import { Semaphore } from '../lib/semaphore.ts'
import { Subscribers } from '../lib/subscribers.ts'
import type { Blob, BlobStore, OpenBlob } from '../ports/blob.ts'
import type { DeviceRegistry } from '../ports/device-registry.ts'
import type { InboundBytes, InboundPipeline, Origin } from '../ports/inbound-pipeline.ts'
import type { StoredItem } from '../ports/latest-item.ts'
import type { Logger } from '../ports/logger.ts'
import type { RecentItem, RecentItems } from '../ports/panel.ts'

/** The beginning of a text that is at hand, to be shown in a list. */
const BEGINNING_BYTES: number = 4 * KIB

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

interface Entry extends RecentItem {
  readonly blob: RememberedBytes
}

interface RememberedItemsDeps {
  readonly inbound: InboundPipeline
  readonly blobs: Pick<BlobStore, 'receive'>
  readonly devices: Pick<DeviceRegistry, 'list'>
  readonly logger: Logger
  /** How many are kept. */
  readonly most: number
  /** Bytes of all together, {@link MAX_RECENT_BYTES} unless given. */
  readonly maxBytes?: number | undefined
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
  #entries: readonly Entry[] = []
  #ids = 0

  constructor(deps: RememberedItemsDeps) {
    this.#deps = deps
  }

  get #maxBytes(): number {
    return this.#deps.maxBytes ?? MAX_RECENT_BYTES
  }

  get list(): readonly RecentItem[] {
    return this.#entries
  }

  /** Remembers an item that has become current. */
  async add(stored: StoredItem): Promise<void> {
    const { item } = stored
    const readers = new Set(this.#deps.devices.list().map(({ id }) => id))
    // A longer item would push out all others.
    const isKept = item.type !== 'Group' && item.size <= this.#maxBytes / 2
    if (isKept && this.#deps.most > 0) {
      await this.#queue.run(async () => {
        const same = this.#entries.find((one) => isSame(one, item))
        // There is never more in memory than there may be, not even until it is read.
        if (same === undefined) this.#makeRoom(item)
        const bytes = same === undefined ? await this.#read(stored) : same.blob.bytes
        if (bytes !== undefined) this.#insert(item, readers, bytes, same)
      })
    }
    this.#subscribers.notify()
  }

  async activate(id: string): Promise<boolean> {
    const entry = this.#entries.find((one) => one.id === id)
    if (entry === undefined) return false
    const {
      type,
      dataName,
      blob: { bytes },
    } = entry
    if (bytes === undefined) return false
    const { inbound, blobs, owner } = this.#deps
    const text = type === 'Text' ? decoder.decode(bytes) : entry.text
    const what = { origin: owner, type, text, dataName, hash: '' }
    if (type === 'Text') {
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
    this.#keep(id === undefined ? [] : before.filter((entry) => entry.id !== id))
    this.#subscribers.notify()
    return this.#entries.length < before.length
  }

  onChange(listener: () => void): () => void {
    return this.#subscribers.add(listener)
  }

  /** @returns `undefined` when another item has taken its place, or the copied file is gone. */
  async #read({ item, blob }: StoredItem): Promise<Uint8Array | undefined> {
    try {
      return await (blob === undefined ? utf8Of(item, item.size) : readWhole(blob))
    } catch (error) {
      this.#deps.logger.debug('Cannot remember an item', { ...describeFailure(error) })
      return undefined
    }
  }

  #insert(
    item: Item,
    readers: ReadonlySet<string>,
    bytes: Uint8Array,
    same: Entry | undefined,
  ): void {
    const { type, dataName, mediaType, size, contentHash, contentId, activatedAt, sender } = item
    this.#ids += 1
    const what = { type, dataName, mediaType, size, contentHash, contentId, activatedAt, sender }
    const text = type === 'Text' ? beginningOf(bytes) : item.text
    const blob = same?.blob ?? new RememberedBytes(bytes)
    const entry: Entry = { id: String(this.#ids), ...what, text, readers, blob }
    const others = this.#entries.filter((one) => one !== same)
    this.#keep([entry, ...others].slice(0, this.#deps.most))
  }

  /** For an item that comes: with it there are no more bytes than there may be. */
  #makeRoom(item: Item): void {
    const beginning = item.type === 'Text' ? BEGINNING_BYTES : item.text.length
    let room = this.#maxBytes - item.size - 2 * beginning
    const fitting = this.#entries.filter((one) => {
      room -= one.size + 2 * one.text.length
      return room >= 0
    })
    this.#keep(fitting)
  }

  #keep(entries: readonly Entry[]): void {
    const kept = new Set(entries.map(({ blob }) => blob))
    for (const { blob } of this.#entries) if (!kept.has(blob)) blob.forget()
    this.#entries = entries
  }
}

/** Bytes in memory until they are forgotten. */
class RememberedBytes implements Blob {
  readonly size: number
  #bytes: Uint8Array | undefined

  constructor(bytes: Uint8Array) {
    this.size = bytes.length
    this.#bytes = bytes
  }

  get bytes(): Uint8Array | undefined {
    return this.#bytes
  }

  forget(): void {
    this.#bytes = undefined
  }

  async open(): Promise<OpenBlob> {
    this.#get()
    const read = async (target: Uint8Array, position: number): Promise<number> => {
      const part = this.#get().subarray(position, position + target.length)
      target.set(part)
      return part.length
    }
    return { read, close: async () => undefined }
  }

  #get(): Uint8Array {
    if (this.#bytes !== undefined) return this.#bytes
    throw new DomainError('BLOB_GONE', 'Cannot read the bytes: they are not remembered any more')
  }
}
/** A text of its own: a part of a long text would keep all of it. */
function beginningOf(utf8: Uint8Array): string {
  const start = utf8.subarray(0, BEGINNING_BYTES)
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(start, { stream: true })
}

function isSame(
  a: Pick<Item, 'type' | 'contentHash' | 'dataName'>,
  b: Pick<Item, 'type' | 'contentHash' | 'dataName'>,
): boolean {
  return a.type === b.type && a.contentHash === b.contentHash && a.dataName === b.dataName
}
