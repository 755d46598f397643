/** Finds the place of an item in the order of its circle. @module */

import { createHash } from 'node:crypto'
import type { Item } from '../core/item.ts'
import { stampOf, type Believes, type Place } from '../core/stamp.ts'

/** An item, or a document of one. */
type Placed = Pick<Item, 'type' | 'dataName' | 'stamp'> & Partial<Pick<Item, 'activatedAt'>>

/**
 * The place of an item. Of two with one stamp, the same is later on each member: its rank is the
 * hash, then the SHA-256 of type and name, which tells neither.
 *
 * @param hash SHA-256 of its bytes, in hex; empty where that is not known, and nor is the rank.
 */
export function placeOf(
  { type, dataName, ...times }: Placed,
  hash: string,
  believes: Believes,
): Place {
  const stamp = stampOf(times, believes)
  if (hash === '') return { stamp }
  // That of a long Text is the name of an upload, in the document of a push.
  const looks = `${type}|${type === 'Text' ? '' : dataName}`
  return { stamp, rank: hash.toLowerCase() + createHash('sha256').update(looks).digest('hex') }
}
