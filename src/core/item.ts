/** The clipboard item: its type, its names, its text, and the hashes it answers to. @module */

import type { ContentId } from './content-id.ts'
import type { Stamp } from './stamp.ts'

/** Who made an item current. */
export interface Sender {
  readonly kind: 'clipboard' | 'device' | 'peer'
  /** Id of a device, or of the owner who pushed it here; `undefined` where there is none. */
  readonly deviceId: string | undefined
}

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
  /**
   * The device that sent the batch, and the numbers of the uploads in order, in one text that is
   * only compared; absent in what earlier versions kept.
   */
  readonly madeOf?: string | undefined
  /** Its place among the items of a circle; absent in what earlier versions kept. */
  readonly stamp?: Stamp | undefined
  /** Who made it current last; absent in what earlier versions kept. */
  readonly sender?: Sender | undefined
  /** Content hashes of the last copy before it, and of what others sent since, oldest first. */
  readonly replaced?: readonly string[] | undefined
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

export type ItemType = 'Text' | 'Image' | 'File' | 'Group'

/** Every {@link ItemType}, for checking values that came from outside. */
export const ITEM_TYPES: readonly ItemType[] = ['Text', 'Image', 'File', 'Group']

/** The item type that `value` names, in any letter case; `undefined` when it names none. */
export function parseItemType(value: string): ItemType | undefined {
  if (value.length > 'Group'.length) return undefined
  const name = value.toLowerCase()
  return ITEM_TYPES.find((type) => type.toLowerCase() === name)
}

/** Whether clients hash an item of this type in ways of their own. */
export function isFileLike(type: ItemType): boolean {
  return type === 'Image' || type === 'File'
}

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

/** @param most Bytes of UTF-8. */
export function isLongerThan(text: string, most: number): boolean {
  // A unit of UTF-16 becomes one to three bytes.
  if (text.length > most) return true
  return text.length * 3 > most && new TextEncoder().encode(text).length > most
}

/** The escape of a control character: no byte of UTF-8 takes more in JSON. */
export const MOST_JSON_BYTES = 6

/** As much of the beginning of a text as fits, in whole characters. @param most Bytes of UTF-8. */
export function cutText(text: string, most: number): string {
  if (!isLongerThan(text, most)) return text
  const bytes = new Uint8Array(most)
  const { written } = new TextEncoder().encodeInto(text, bytes)
  // A slice of the string would keep all of it in memory.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, written))
}

/** The longest name of the usual file systems, so that a pushed file can keep its name. */
export const MAX_DATA_NAME_BYTES = 255

// The C0 and C1 controls, separators of every platform, and line separators that terminals obey.
// Not more: bidi and invisible characters are part of names that people give, and the contract
// allows them. Whoever prints or saves a name takes them out.
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f/\\\u2028\u2029]/
const ALL_FORBIDDEN = new RegExp(FORBIDDEN, 'g')

/** Whether `name` may name bytes on the wire. */
export function isDataName(name: string): boolean {
  if (name === '' || name === '.' || name === '..') return false
  if (name.length > MAX_DATA_NAME_BYTES) return false
  if (FORBIDDEN.test(name) || !name.isWellFormed()) return false
  return !isLongerThan(name, MAX_DATA_NAME_BYTES)
}

/** A data name for a file of this name: what may not be on the wire becomes `_`. */
export function toDataName(fileName: string): string {
  const name = fileName.toWellFormed().replaceAll(ALL_FORBIDDEN, '_')
  return isDataName(name) ? name : 'clipboard.bin'
}
