/** The clipboard item, and the hashes it answers to. @module */

import type { ContentId } from './content-id.ts'
import type { ItemType } from './item-type.ts'
import type { Stamp } from './stamp.ts'

/** One clipboard item, without its bytes. All hashes are lower-case hex. */
export interface Item {
  readonly type: ItemType
  /** The content of a Text. For other types what the sender called it, cut, else `dataName`. */
  readonly text: string
  /** Wire name of the bytes; empty for a Text. */
  readonly dataName: string
  /** The media type of the bytes; `text/plain` for a Text. */
  readonly mediaType: string
  /** Bytes; those of the UTF-8 text for a Text. */
  readonly size: number
  readonly contentId: ContentId
  /** SHA-256 of the bytes. */
  readonly contentHash: string
  /** SHA-256 of `dataName + "|" + UPPER-HEX(SHA-256 of the bytes)`; `contentHash` for a Text. */
  readonly nameHash: string
  /**
   * The hash of its files, where it is a Group of which that is known: programs of the reference
   * protocol compute it when they have unpacked it, and take no other.
   */
  readonly groupHash?: string | undefined
  /** Hashes that clients sent for this item, oldest first. */
  readonly aliases: readonly string[]
  /** When it last became the current item, in Unix milliseconds. */
  readonly activatedAt: number
  /** The batch that it was made of, by which its sender may ask for it again. */
  readonly batch?: string | undefined
  /** Its place among the items of a circle; absent in what earlier versions kept. */
  readonly stamp?: Stamp | undefined
}

/** The part of an item that readers of its document see, besides its hashes. */
type Visible = Pick<Item, 'contentId' | 'type' | 'dataName' | 'mediaType' | 'text'>

/** Whether readers of the documents of both would see the same. */
export function looksAlike(a: Visible, b: Visible): boolean {
  if (a.contentId !== b.contentId || a.type !== b.type) return false
  // The content of a Text is all there is of it.
  if (a.type === 'Text') return true
  return a.dataName === b.dataName && a.mediaType === b.mediaType && a.text === b.text
}

/** More than the clients of one person ever use; keeps a hostile device from growing the item. */
const MAX_ALIASES = 16

/** Twice the hex digits of SHA-512: nothing longer is a hash. */
export const MAX_HASH_LENGTH = 256

/** Hex digits, as many as MD5 has at least, which is the shortest that clients send. */
const HASH = /^[0-9a-f]{32,256}$/i

const BATCH_ID = /^[0-9a-f]{32}$/

/** Whether `text` can name a batch of uploads: 32 lower-case hex digits, which are random. */
export function isBatchId(text: string): boolean {
  return BATCH_ID.test(text)
}

/** Whether `text` is a hash of something, and not a name or a word. */
export function isHash(text: string): boolean {
  return HASH.test(text)
}

/** Whether `hash` names this item: one of its own hashes or an alias, in any case. */
export function matchesHash(item: Item, hash: string): boolean {
  const wanted = hash.toLowerCase()
  if (wanted === '') return false
  const { contentHash, nameHash, groupHash, aliases } = item
  return [contentHash, nameHash, groupHash].includes(wanted) || aliases.includes(wanted)
}

/** Whether `hash` is one that is computed here: of the content, or name-bound. */
export function isComputedHash(
  { contentHash, nameHash }: Pick<Item, 'contentHash' | 'nameHash'>,
  hash: string,
): boolean {
  const wanted = hash.toLowerCase()
  return wanted === contentHash || wanted === nameHash
}

/** `aliases` with one more hash; the oldest gives way, and what cannot be a hash is left out. */
export function withAlias(
  { contentHash, nameHash, aliases }: Pick<Item, 'contentHash' | 'nameHash' | 'aliases'>,
  hash: string,
): readonly string[] {
  const alias = hash.toLowerCase()
  if (alias === '' || alias.length > MAX_HASH_LENGTH) return aliases
  if (alias === contentHash || alias === nameHash || aliases.at(-1) === alias) return aliases
  return [...aliases.filter((known) => known !== alias), alias].slice(-MAX_ALIASES)
}

/** The first characters of a text: characters are what people count, not halves of them. */
export function beginningOf(text: string, length: number): string {
  return [...text.slice(0, 2 * length)].slice(0, length).join('')
}
