/**
 * The hash of an item as each dialect spells it.
 *
 * | | `sync` | `syncclipboard` |
 * |---|---|---|
 * | Text | content hash | the same, upper case |
 * | Image, File | content hash | name-bound hash, upper case: clients verify downloads with it |
 * | Group | content hash | the hash that a client sent with it, else the content hash; upper case |
 * @module
 */

import type { Item } from '../../core/item.ts'
import type { Dialect } from '../../ports/device-registry.ts'

/** The hash to put into an answer. */
export function wireHash(item: Item, dialect: Dialect): string {
  if (dialect === 'sync') return item.contentHash
  const hash = item.type === 'Group' ? (item.aliases.at(-1) ?? item.contentHash) : item.nameHash
  return hash.toUpperCase()
}
