/**
 * Decides which of two daemons gives its item to the other: by the stamps, and only where somebody
 * who reads the documents would see a difference.
 *
 * @module
 */

import type { LatestStamped } from '../client/latest.ts'
import type { Item } from '../core/item.ts'
import { believedStamp, compareStamps, stampOf, type Believes } from '../core/stamp.ts'
import type { StoredItem } from '../ports/latest-item.ts'

export type Plan = 'pull' | 'push' | 'nothing'

/** What is compared of the document of another daemon. */
export type RemoteItem = Pick<
  LatestStamped,
  'type' | 'text' | 'dataName' | 'mediaType' | 'contentId' | 'stamp'
>

/** Who has to give. Without stamps the other side is no member of a group, and knows less. */
export function planMove(
  current: StoredItem | undefined,
  remote: RemoteItem | undefined,
  believes: Believes,
): Plan {
  if (remote?.contentId === undefined) return current === undefined ? 'nothing' : 'push'
  if (current === undefined) return 'pull'
  const { item } = current
  const there = believedStamp(remote.stamp ?? { at: 0, member: '' }, believes)
  const order = compareStamps(there, stampOf(item, believes))
  if (order > 0) return 'pull'
  return isSameDocument(item, remote) || order === 0 ? 'nothing' : 'push'
}

/** Whether nobody who reads one of them would see a difference. */
function isSameDocument(item: Item, remote: RemoteItem): boolean {
  if (item.contentId !== remote.contentId || item.type !== remote.type) return false
  // The content of a Text is all there is of it.
  if (item.type === 'Text') return true
  const { mediaType = item.mediaType } = remote
  const isNamedAlike = item.dataName === remote.dataName && item.text === remote.text
  return isNamedAlike && item.mediaType === mediaType
}
