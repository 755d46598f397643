/**
 * Records of items that were sent but are not the current one, for the device that sent them: it
 * asks for each right afterwards, and would send it again if it were not there.
 *
 * In memory, and bounded: the device with most forgets its oldest, and then sends them once more.
 * Of its newest the text is cut first.
 * @module
 */

import { MAX_NAME_TEXT_BYTES } from '../core/limits.ts'
import { cutText, type ProfileId } from '../core/item.ts'
import { Shares } from '../lib/shares.ts'
import type { KeptBytes } from '../ports/inbound-pipeline.ts'
import type { HistoryRecord } from './wire/history.ts'

/** A record, and its bytes if it came with some. */
export interface KeptRecord {
  readonly record: HistoryRecord
  readonly bytes: KeptBytes | undefined
}

/** Characters of text that all records together may hold. */
const MAX_CHARACTERS: number = 1024 * 1024

/** The memory of a record besides its text, in characters. */
const RECORD_CHARACTERS = 512

interface Entry extends KeptRecord {
  readonly deviceId: string
}

/** The records that devices have sent lately. */
export class RememberedRecords {
  /** Oldest first: a `Map` keeps the order of insertion. */
  readonly #records = new Map<string, Entry>()
  /** Characters, by device. */
  readonly #shares = new Shares()

  /** Keeps a record; of a text that is too long for that, only the beginning. */
  remember(deviceId: string, kept: KeptRecord): void {
    this.#put({ ...(sizeOf(kept) > MAX_CHARACTERS ? cut(kept) : kept), deviceId })
    while (this.#shares.total > MAX_CHARACTERS) this.#shrink()
  }

  /** Finds the record that a device sent under a profile id. */
  find(deviceId: string, id: ProfileId): KeptRecord | undefined {
    return this.#records.get(keyOf(deviceId, id))
  }

  /** Forgets all that a device sent. */
  forget(deviceId: string): void {
    for (const [key, kept] of this.#records) if (kept.deviceId === deviceId) this.#forget(key)
  }

  #put(entry: Entry): void {
    const key = keyOf(entry.deviceId, entry.record)
    this.#forget(key)
    this.#records.set(key, entry)
    this.#shares.add(entry.deviceId, sizeOf(entry))
  }

  #forget(key: string): void {
    const kept = this.#records.get(key)
    if (kept === undefined) return
    this.#records.delete(key)
    this.#shares.add(kept.deviceId, -sizeOf(kept))
  }

  #shrink(): void {
    const [largest] = this.#shares.largestFirst()
    const own = [...this.#records.values()].filter(({ deviceId }) => deviceId === largest?.[0])
    const [oldest] = own
    if (oldest === undefined) return
    const shorter = cut(oldest)
    // Its device may be about to ask for its newest.
    const isEnough = own.length === 1 && sizeOf(shorter) < sizeOf(oldest)
    if (isEnough) this.#put({ ...shorter, deviceId: oldest.deviceId })
    else this.#forget(keyOf(oldest.deviceId, oldest.record))
  }
}

function cut({ record, bytes }: KeptRecord): KeptRecord {
  return { record: { ...record, text: cutText(record.text, MAX_NAME_TEXT_BYTES) }, bytes }
}

function keyOf(deviceId: string, { type, hash }: ProfileId): string {
  return JSON.stringify([deviceId, type, hash.toLowerCase()])
}

function sizeOf({ record: { text, hash } }: KeptRecord): number {
  return text.length + 2 * hash.length + RECORD_CHARACTERS
}
