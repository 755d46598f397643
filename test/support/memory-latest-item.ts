/**
 * The current item in memory instead of on disk, for tests of everything above the storage.
 * @module
 */

import type { Item } from '../../src/core/item.ts'
import type { HashedBlob } from '../../src/ports/blob.ts'
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

  async prepare(blob: HashedBlob): Promise<void> {
    await (await blob.open()).close()
  }

  async put(item: Item, blob: HashedBlob | undefined): Promise<StoredItem> {
    if (blob !== undefined) await (await blob.open()).close()
    const replaced = this.#binary?.blob
    const stored: StoredItem = { item, blob }
    this.#current = stored
    if (blob !== undefined) {
      this.#binary = stored
      if (replaced !== blob) await replaced?.discard()
    }
    return stored
  }
}
