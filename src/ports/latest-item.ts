/**
 * Port: the current clipboard item, and the latest one that has bytes.
 *
 * The two are the same until a Text becomes current; the bytes stay readable after that.
 * @module
 */

import type { Item } from '../core/item.ts'
import type { HashedBlob } from './blob.ts'

/** An item with its bytes. */
export interface StoredItem {
  readonly item: Item
  /** `undefined` for a Text only. */
  readonly blob: HashedBlob | undefined
}

/** Options of {@link LatestItem.put}. */
export interface PutOptions {
  /** Whether its bytes are to be saved as files outside: see {@link LatestItem.unsaved}. */
  readonly isToSave?: boolean | undefined
}

/** The current item, kept durably. */
export interface LatestItem {
  /** The current item; `undefined` when there was none yet. */
  readonly current: StoredItem | undefined
  /** The latest Image, File or Group; may be the current item. */
  readonly binary: StoredItem | undefined
  /** Items that wait for their bytes to be saved as files, oldest first, also after a restart. */
  readonly unsaved: readonly StoredItem[]

  /**
   * Makes the bytes of an item that will be put survive a power cut. `put` does so as well; but it
   * keeps others waiting, and what is done before is not done again.
   *
   * @throws {DomainError} As `put`.
   */
  prepare(blob: HashedBlob): Promise<void>

  /**
   * Makes `item` current, durably: once it resolves, the item survives a power cut; when it
   * rejects, or the program dies, the earlier item is intact. Takes the blob over, and discards
   * the one it replaces, unless that is to be saved. A Text leaves the binary item as it is.
   *
   * Callers do not call it, or `endSaving`, again before it has settled.
   *
   * @param blob The bytes of an Image, File or Group: a new blob, or that of `binary` again.
   * @throws {DomainError} `NO_SPACE`; `BLOB_GONE` when the blob's bytes are not there any more.
   */
  put(item: Item, blob: HashedBlob | undefined, options?: PutOptions): Promise<StoredItem>

  /**
   * Takes items out of `unsaved`, durably, and discards their bytes unless something else has them.
   *
   * @throws {DomainError} `NO_SPACE`.
   */
  endSaving(...items: readonly StoredItem[]): Promise<void>
}
