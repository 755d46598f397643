/**
 * Records of items that were sent but are not the current one, for the device that sent them: it
 * asks for each right afterwards, and would send it again if it were not there.
 *
 * In memory, and bounded: the device with most forgets its oldest, and then sends them once more.
 * @module
 */

import type { ProfileId } from '../core/profile-id.ts'
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

  /** A text that is too long to be kept is not remembered. */
  remember(deviceId: string, kept: KeptRecord): void {
    const key = keyOf(deviceId, kept.record)
    this.#forget(key)
    if (sizeOf(kept) > MAX_CHARACTERS) return
    this.#records.set(key, { ...kept, deviceId })
    this.#shares.add(deviceId, sizeOf(kept))
    while (this.#shares.total > MAX_CHARACTERS) this.#forgetOne()
  }

  /** Finds the record that a device sent under a profile id. */
  find(deviceId: string, id: ProfileId): KeptRecord | undefined {
    return this.#records.get(keyOf(deviceId, id))
  }

  /** Forgets all that a device sent. */
  forget(deviceId: string): void {
    for (const [key, kept] of this.#records) if (kept.deviceId === deviceId) this.#forget(key)
  }

  #forget(key: string): void {
    const kept = this.#records.get(key)
    if (kept === undefined) return
    this.#records.delete(key)
    this.#shares.add(kept.deviceId, -sizeOf(kept))
  }

  #forgetOne(): void {
    const [largest] = this.#shares.largestFirst()
    for (const [key, { deviceId }] of this.#records) {
      if (deviceId === largest?.[0]) return this.#forget(key)
    }
  }
}

function keyOf(deviceId: string, { type, hash }: ProfileId): string {
  return JSON.stringify([deviceId, type, hash.toLowerCase()])
}

function sizeOf({ record: { text, hash } }: KeptRecord): number {
  return text.length + 2 * hash.length + RECORD_CHARACTERS
}
