/**
 * Finds the item that a client means by a profile id.
 * @module
 */

import type { ProfileId } from '../core/profile-id.ts'
import { matchesHash, type Item } from '../core/item.ts'
import type { ItemType } from '../core/item-type.ts'
import type { Dialect } from '../ports/device-registry.ts'
import type { StoredItem } from '../ports/latest-item.ts'

/**
 * The first of `candidates` that answers to a profile id.
 *
 * In the dialect `sync` the type is enough for Image and File: clients hash in ways of their own.
 * In `syncclipboard` clients ask in order to find out whether to upload.
 */
export function findItem<Stored extends Pick<StoredItem, 'item'>>(
  candidates: readonly (Stored | undefined)[],
  id: ProfileId,
  dialect: Dialect,
): Stored | undefined {
  return candidates.find(
    (stored): stored is Stored => stored !== undefined && answersTo(stored.item, id, dialect),
  )
}

function answersTo(item: Item, { type, hash }: ProfileId, dialect: Dialect): boolean {
  if (matchesHash(item, hash)) return isSameKind(item.type, type)
  return dialect === 'sync' && item.type === type && isFileLike(type)
}

/** A file that was pushed as a File may have turned out to be an Image. */
function isSameKind(a: ItemType, b: ItemType): boolean {
  return a === b || (isFileLike(a) && isFileLike(b))
}

function isFileLike(type: ItemType): boolean {
  return type === 'Image' || type === 'File'
}
