/**
 * Records of items that were sent but are not the current one, for the device that sent them: it
 * asks for each right afterwards, and would send it again if it were not there.
 *
 * In memory, and bounded: the oldest are forgotten, and then the device sends them once more.
 *
 * @module
 */

import type { ProfileId } from '../core/profile-id.ts'
import type { HistoryRecord } from './wire/history-record.ts'

/** A record, and the name under which its bytes are staged; empty when it has none. */
export interface KeptRecord {
  readonly record: HistoryRecord
  readonly dataName: string
}

/** Characters of text that all records together may hold. */
const MAX_CHARACTERS: number = 1024 * 1024

/** What a record holds besides its text. */
const RECORD_CHARACTERS = 512

export class RememberedRecords {
  /** Oldest first: a `Map` keeps the order of insertion. */
  readonly #records = new Map<string, KeptRecord>()
  #characters = 0

  /** A text that is too long to be kept is not remembered. */
  remember(deviceId: string, kept: KeptRecord): void {
    const key = keyOf(deviceId, kept.record)
    this.#forget(key)
    if (sizeOf(kept) > MAX_CHARACTERS) return
    this.#records.set(key, kept)
    this.#characters += sizeOf(kept)
    for (const oldest of this.#records.keys()) {
      if (this.#characters <= MAX_CHARACTERS) return
      this.#forget(oldest)
    }
  }

  /** What a device sent under a profile id. */
  find(deviceId: string, id: ProfileId): KeptRecord | undefined {
    return this.#records.get(keyOf(deviceId, id))
  }

  #forget(key: string): void {
    const kept = this.#records.get(key)
    if (kept === undefined) return
    this.#records.delete(key)
    this.#characters -= sizeOf(kept)
  }
}

function keyOf(deviceId: string, { type, hash }: ProfileId): string {
  return JSON.stringify([deviceId, type, hash.toLowerCase()])
}

function sizeOf({ record: { text, hash } }: KeptRecord): number {
  return text.length + 2 * hash.length + RECORD_CHARACTERS
}
