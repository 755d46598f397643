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
import { lengthOf, startOf, withChanges } from '../lib/long-text.ts'
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

  /** Forgets what a device sent under a profile id: it would have to be sent again. */
  drop(deviceId: string, id: ProfileId): void {
    const kept = this.find(deviceId, id)
    if (kept === undefined) return
    this.#records.delete(keyOf(deviceId, id))
    this.#shares.add(deviceId, -sizeOf(kept))
  }

  /** Forgets all that a device sent. */
  forget(deviceId: string): void {
    for (const kept of this.#records.values()) {
      if (kept.deviceId === deviceId) this.drop(deviceId, kept.record)
    }
  }

  #put(entry: Entry): void {
    const { deviceId, record } = entry
    this.drop(deviceId, record)
    this.#records.set(keyOf(deviceId, record), entry)
    this.#shares.add(deviceId, sizeOf(entry))
  }

  #shrink(): void {
    const [largest] = this.#shares.largestFirst()
    const own = [...this.#records.values()].filter(({ deviceId }) => deviceId === largest?.[0])
    const [oldest] = own
    if (oldest === undefined) return
    const shorter = cut(oldest)
    // Its device may be about to ask for its newest.
    const isEnough = own.length === 1 && sizeOf(shorter) < sizeOf(oldest)
    if (isEnough) this.#put(shorter)
    else this.drop(oldest.deviceId, oldest.record)
  }
}

function cut<Kept extends KeptRecord>(kept: Kept): Kept {
  const { record } = kept
  const text = cutText(startOf(record), MAX_NAME_TEXT_BYTES)
  return { ...kept, record: withChanges(record, { text }) }
}

function keyOf(deviceId: string, { type, hash }: ProfileId): string {
  return JSON.stringify([deviceId, type, hash.toLowerCase()])
}

function sizeOf({ record }: KeptRecord): number {
  return lengthOf(record) + 2 * record.hash.length + RECORD_CHARACTERS
}
