/**
 * The current item in memory instead of on disk, for tests of everything above the storage.
 *
 * @module
 */

import type { Item } from '../../src/core/item.ts'
import type { Blob, HashedBlob } from '../../src/ports/blob.ts'
import type { LatestItem, StoredItem } from '../../src/ports/latest-item.ts'

export class MemoryLatestItem implements LatestItem {
  #current: StoredItem | undefined
  #binary: StoredItem | undefined

  get current(): StoredItem | undefined {
    return this.#current
  }

  get binary(): StoredItem | undefined {
    return this.#binary
  }

  async prepare(blob: Blob): Promise<void> {
    await (await blob.open()).close()
  }

  async put(item: Item, blob: Blob | undefined): Promise<StoredItem> {
    if (blob !== undefined) await (await blob.open()).close()
    const replaced = this.#binary?.blob
    const stored: StoredItem = { item, blob }
    this.#current = stored
    if (blob !== undefined) {
      this.#binary = stored
      if (replaced !== blob && isHashed(replaced)) await replaced.discard()
    }
    return stored
  }
}

function isHashed(blob: Blob | undefined): blob is HashedBlob {
  return blob !== undefined && 'discard' in blob
}
