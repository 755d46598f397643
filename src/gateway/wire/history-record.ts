/**
 * Wire format of history records and of their statistics. Only this file knows its field names.
 * @module
 */

import type { ItemType } from '../../core/item-type.ts'
import type { Item } from '../../core/item.ts'
import { MIB } from '../../core/limits.ts'
import { formatTime } from './wire-time.ts'

/** A record as clients read it. */
export interface HistoryRecord {
  readonly hash: string
  readonly type: ItemType
  readonly text: string
  /** `YYYY-MM-DDTHH:mm:ss.sssZ`, as the other times. */
  readonly createTime: string
  readonly lastModified: string
  readonly lastAccessed: string
  readonly starred: boolean
  readonly pinned: boolean
  /** Bytes. */
  readonly size: number
  readonly hasData: boolean
  readonly version: number
  readonly isDeleted: boolean
}

/** The facts that a client states about its own record. They are not kept, but told back. */
export interface RecordState {
  /** Unix milliseconds, as the other times. */
  readonly createTime?: number | undefined
  readonly lastModified?: number | undefined
  readonly lastAccessed?: number | undefined
  readonly starred?: boolean | undefined
  readonly pinned?: boolean | undefined
  readonly version?: number | undefined
  readonly isDeleted?: boolean | undefined
}

/** The part of an item that its record tells. */
export type RecordSubject = Pick<Item, 'type' | 'text' | 'size' | 'activatedAt'>

/**
 * The record of an item.
 *
 * @param hash The one that the client asked for or sent, else the one of its dialect.
 * @param state What the client sent with it.
 */
export function encodeRecord(
  { type, text, size, activatedAt }: RecordSubject,
  hash: string,
  state: RecordState = {},
): HistoryRecord {
  const { createTime, lastModified, lastAccessed } = state
  return {
    hash,
    type,
    text,
    createTime: formatTime(createTime ?? activatedAt),
    lastModified: formatTime(lastModified ?? activatedAt),
    lastAccessed: formatTime(lastAccessed ?? activatedAt),
    starred: state.starred ?? false,
    pinned: state.pinned ?? false,
    size,
    hasData: type !== 'Text',
    version: state.version ?? 0,
    isDeleted: state.isDeleted ?? false,
  }
}

/** The statistics of a history that consists of one item, or of none. */
export function encodeStatistics(item: Item | undefined): Readonly<Record<string, number>> {
  const count = item === undefined ? 0 : 1
  const megabytes = (item?.size ?? 0) / MIB
  return {
    totalCount: count,
    starredCount: 0,
    deletedCount: 0,
    activeCount: count,
    totalFileSizeMb: megabytes,
    // Some clients read this spelling.
    totalFileSizeMB: megabytes,
  }
}
