/** Makes an item of its content: hashes, ids, names. @module */

import type { ContentId } from '../core/content-id.ts'
import { withAlias, type Item } from '../core/item.ts'
import { contentIdOf, digestsOf, nameHashOf } from '../hashing/content-id.ts'
import type { InboundItem } from '../ports/inbound-pipeline.ts'
import type { LatestItem } from '../ports/latest-item.ts'
import type { NamedBytes } from './resolve-content.ts'

/**
 * Describes new content as an item: its hashes, ids and names.
 *
 * @param activatedAt Unix milliseconds.
 */
export async function describeItem(
  inbound: InboundItem,
  content: NamedBytes | { readonly text: string },
  activatedAt: number,
): Promise<Item> {
  if ('text' in content) {
    const { text } = content
    const bytes = new TextEncoder().encode(text)
    const { sha256, blake3 } = await digestsOf(bytes)
    return {
      type: 'Text',
      text,
      dataName: '',
      mediaType: 'text/plain',
      size: bytes.length,
      contentId: await contentIdOf('Text', blake3),
      contentHash: sha256,
      nameHash: sha256,
      aliases: [],
      activatedAt,
    }
  }
  const { type, dataName, mediaType, blob } = content
  const { sha256, blake3 } = blob.digests
  return {
    type,
    text: inbound.text === '' ? dataName : inbound.text,
    dataName,
    mediaType,
    size: blob.size,
    contentId: await contentIdOf(type, blake3),
    contentHash: sha256,
    nameHash: nameHashOf(dataName, sha256),
    aliases: [],
    activatedAt,
  }
}

/** The content id of a Text without a character. */
export async function emptyTextId(): Promise<ContentId> {
  const { blake3 } = await digestsOf(new Uint8Array())
  return await contentIdOf('Text', blake3)
}

/**
 * The hashes by which clients may ask for an item, with the one that its sender told. The same
 * content keeps those it was known by.
 */
export function aliasesOf(
  item: Item,
  hash: string,
  { current, binary }: Pick<LatestItem, 'current' | 'binary'>,
): readonly string[] {
  const same = [current, binary].find((stored) => stored !== undefined && isSame(stored.item, item))
  const { aliases = [], nameHash = '' } = same?.item ?? {}
  // The hash of a Group is never bound to its name, and nobody was ever shown one that is.
  const formerName = item.type === 'Group' ? '' : nameHash
  return withAlias({ ...item, aliases: withAlias({ ...item, aliases }, formerName) }, hash)
}

/** Whether two items have the same content, whatever their names. */
export function isSame(a: Item, b: Item): boolean {
  return a.contentId === b.contentId && a.type === b.type
}
