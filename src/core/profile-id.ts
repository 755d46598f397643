/** Profile ids, `{type}-{hash}`: how the history endpoints name an item. @module */

import { parseItemType, type ItemType } from './item-type.ts'

/** A type, and the hash of an item of it. */
export interface ProfileId {
  readonly type: ItemType
  /** The hash as it was written; not empty. */
  readonly hash: string
}

/**
 * Splits at the first `-`, since hashes may hold more of them. The type counts in any letter case.
 *
 * @returns `undefined` when `text` is not a type and a hash.
 */
export function parseProfileId(text: string): ProfileId | undefined {
  const dash = text.indexOf('-')
  if (dash === -1) return undefined
  const type = parseItemType(text.slice(0, dash))
  const hash = text.slice(dash + 1)
  return type === undefined || hash === '' ? undefined : { type, hash }
}
