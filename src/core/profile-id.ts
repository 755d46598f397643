/**
 * Profile ids: `{type}-{hash}`, how the history endpoints name an item.
 *
 * @module
 */

import { parseItemType, type ItemType } from './item-type.ts'

export interface ProfileId {
  readonly type: ItemType
  readonly hash: string
}

/** Parses a profile id, split at its first `-`; `undefined` when it is malformed. */
export function parseProfileId(text: string): ProfileId | undefined {
  const dash = text.indexOf('-')
  if (dash === -1) return undefined
  const type = parseItemType(text.slice(0, dash))
  const hash = text.slice(dash + 1)
  return type === undefined || hash === '' ? undefined : { type, hash }
}
