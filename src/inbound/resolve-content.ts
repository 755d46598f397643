/**
 * Finds the content that an inbound item talks about, and makes an item of it.
 *
 * Senders describe, and often describe wrongly: the type follows the bytes, hashes and sizes are
 * hints, and the preview of a long text is never taken for the text.
 * @module
 */

import { setImmediate as turn } from 'node:timers/promises'
import type { Digests } from '../core/content-id.ts'
import { DomainError } from '../core/domain-error.ts'
import type { ItemType } from '../core/item-type.ts'
import { isHash, matchesHash, withAlias, type Item } from '../core/item.ts'
import { MAX_NAME_TEXT_BYTES, MIB } from '../core/limits.ts'
import { classifyMediaType, isImageType } from '../core/media-type.ts'
import { cutText, jsonLengthOf, MOST_JSON_BYTES } from '../core/text-length.ts'
import { contentIdOf, nameHashOf } from '../hashing/content-id.ts'
import { readWhole } from '../lib/read-bytes.ts'
import { decodeUtf8, withoutByteOrderMark } from '../lib/utf8.ts'
import type { Clock } from '../lib/clock.ts'
import type { Blob, BlobStore, HashedBlob } from '../ports/blob.ts'
import type { BatchBytes, InboundItem } from '../ports/inbound-pipeline.ts'
import type { LatestItem, StoredItem } from '../ports/latest-item.ts'
import type { StagingArea, TakenUpload } from '../ports/staging-area.ts'

/** Hex digits of an MD5. */
const MD5_LENGTH = 32

/** Nobody waits for the MD5 of more; pictures are smaller. */
const MAX_MD5_BYTES: number = 64 * MIB

/** The endings of the bytes that content came in. Exactly one of them must be called. */
interface ContentEndings {
  /** The item has the bytes now. */
  release(): Promise<void>
  /** The bytes are not needed any more. */
  discard(): Promise<void>
  /** Nothing came of it: the sender, or its upload, has the bytes again. */
  giveBack(): void
}

/** Bytes of a text that are looked at in one go, which takes a millisecond or two. */
const PIECE_BYTES: number = MIB

/** Content to apply. */
export type NewContent = { readonly endings: ContentEndings } & (
  | (HashedText & { readonly kind: 'text' })
  | (NamedBytes & { readonly kind: 'bytes' })
)

/** A text, and what is known of it in UTF-8. */
export interface HashedText {
  readonly text: string
  /** Bytes. */
  readonly size: number
  readonly digests: Digests
}

/** Hashes a text. @param utf8 Handed over: nobody else may use it. */
export type HashText = (utf8: Uint8Array<ArrayBuffer>) => Promise<Digests>

/** The endings of content that came without bytes. */
const NO_ENDINGS: ContentEndings = {
  release: async () => undefined,
  discard: async () => undefined,
  giveBack: () => undefined,
}

/** Bytes, and what they are called. */
export interface NamedBytes {
  readonly type: Exclude<ItemType, 'Text'>
  readonly dataName: string
  readonly mediaType: string
  readonly blob: HashedBlob
}

interface ResolveDeps {
  readonly staging: Pick<StagingArea, 'take' | 'takeBatch'>
  /** Needed for a batch that becomes a Group. */
  readonly blobs?: Pick<BlobStore, 'bundle'> | undefined
  readonly clock: Pick<Clock, 'now'>
  readonly latest: Pick<LatestItem, 'current' | 'binary'>
  /** The longest text that may become an item, in bytes of JSON: there documents have it. */
  readonly maxTextBytes: number
  readonly hashText: HashText
}

/**
 * Resolves an inbound item. The result must be ended.
 *
 * @returns `undefined` when there are no bytes: the sender must mean an item that is here.
 * @throws {DomainError} `TEXT_TOO_LARGE`, `TEXT_NOT_UTF8`, `BLOB_GONE`, `GROUP_TOO_LARGE`,
 *   `PACKAGE_MISSING`.
 */
export async function resolveContent(
  inbound: InboundItem,
  deps: ResolveDeps,
): Promise<NewContent | undefined> {
  const { type, bytes } = inbound
  if (type === 'Text' && bytes.kind === 'none') return textContent(inbound.text, deps)
  if (bytes.kind === 'received') {
    const endings = { ...NO_ENDINGS, discard: () => bytes.blob.discard() }
    return fromBytes(inbound, { ...bytes, dataName: inbound.dataName }, endings, deps)
  }
  if (bytes.kind === 'batch') return fromBatch(inbound, bytes, deps)

  const upload = takeUpload(inbound, deps.staging)
  if (upload === undefined) {
    const isOfMember = type === 'Text' && inbound.origin.kind === 'peer'
    return isOfMember ? storedText(inbound, deps) : undefined
  }
  try {
    return await fromBytes(inbound, upload, upload, deps)
  } catch (error) {
    upload.giveBack()
    throw error
  }
}

/** @throws {DomainError} `TEXT_TOO_LARGE`. */
async function textContent(
  text: string,
  { maxTextBytes, hashText }: ResolveDeps,
  endings = NO_ENDINGS,
): Promise<NewContent> {
  if (text.length > maxTextBytes) throw tooLarge(maxTextBytes)
  if (text.length > PIECE_BYTES) await turn()
  const utf8 = new TextEncoder().encode(text)
  if (await isLongerAsJson(utf8, maxTextBytes)) throw tooLarge(maxTextBytes)
  const size = utf8.length
  return { kind: 'text', text: text.toWellFormed(), size, digests: await hashText(utf8), endings }
}

/** Looks at a piece at a time: others have their turn between two of them. */
async function isLongerAsJson(utf8: Uint8Array, most: number): Promise<boolean> {
  if (utf8.length * MOST_JSON_BYTES <= most) return false
  let length = 0
  for (let start = 0; start < utf8.length && length <= most; start += PIECE_BYTES) {
    if (start > 0) await turn()
    length += jsonLengthOf(utf8.subarray(start, start + PIECE_BYTES))
  }
  return length > most
}

async function fromBatch(
  inbound: InboundItem,
  { batch, numbers }: BatchBytes,
  deps: ResolveDeps,
): Promise<NewContent | undefined> {
  const { staging, blobs, clock } = deps
  const deviceId = inbound.origin.kind === 'clipboard' ? undefined : inbound.origin.deviceId
  const uploads = deviceId === undefined ? undefined : staging.takeBatch(deviceId, batch, numbers)
  if (uploads === undefined) return undefined
  try {
    const [first] = uploads
    if (inbound.type !== 'Group' && first !== undefined) {
      return await fromBytes(inbound, first, first, deps)
    }
    if (blobs === undefined) throw new Error('Cannot make one item of several: there is no store')
    const { blob, dissolve } = await blobs.bundle(uploads)
    const endings: ContentEndings = {
      release: async () => {
        for (const upload of uploads) await upload.release()
      },
      discard: async () => {
        await blob.discard()
        for (const upload of uploads) await upload.discard()
      },
      giveBack: () => {
        void dissolve()
        for (const upload of uploads) upload.giveBack()
      },
    }
    const dataName = inbound.dataName === '' ? nameOfNow('zip', clock.now()) : inbound.dataName
    return { kind: 'bytes', type: 'Group', dataName, mediaType: 'application/zip', blob, endings }
  } catch (error) {
    for (const upload of uploads) upload.giveBack()
    throw error
  }
}

async function fromBytes(
  { type }: InboundItem,
  { blob, mediaType, dataName }: Omit<NamedBytes, 'type'>,
  endings: ContentEndings,
  deps: ResolveDeps,
): Promise<NewContent> {
  if (type === 'Text') return textContent(await readText(blob, deps.maxTextBytes), deps, endings)
  return { kind: 'bytes', type: typeOf(type, mediaType), dataName, mediaType, blob, endings }
}

/** Some clients call an image a File. */
function typeOf(type: NamedBytes['type'], mediaType: string): NamedBytes['type'] {
  return type === 'File' && isImageType(mediaType) ? 'Image' : type
}

/** A text that another member has too, and that is here as an item or as the bytes of a file. */
async function storedText({ hash }: InboundItem, deps: ResolveDeps): Promise<NewContent> {
  const [stored] = findByContent(hash, deps.latest)
  if (stored === undefined) throw nothingStaged()
  const { item, blob } = stored
  const text = blob === undefined ? item.text : await readText(blob, deps.maxTextBytes)
  return textContent(text, deps)
}

function takeUpload(
  inbound: InboundItem,
  staging: Pick<StagingArea, 'take'>,
): TakenUpload | undefined {
  const { origin, bytes } = inbound
  if (origin.kind === 'clipboard' || origin.deviceId === undefined) return undefined
  const kept = bytes.kind === 'staged' ? bytes.kept : undefined
  for (const name of new Set([nameOf(inbound), kept?.dataName ?? ''])) {
    const upload = staging.take(origin.deviceId, name)
    if (kept === undefined || upload?.blob.digests.sha256 === kept.contentHash) return upload
    // Those of another record, which had the same name.
    upload?.giveBack()
  }
  return undefined
}

/** Some clients name a File in `text` only. */
function nameOf({ type, text, dataName }: Pick<InboundItem, 'type' | 'text' | 'dataName'>): string {
  return dataName === '' && type === 'File' ? text : dataName
}

/** The item that a sender without bytes means; `undecided` until the MD5 of the bytes is known. */
export type Meant =
  | {
      readonly kind: 'known'
      readonly stored: StoredItem
      /** How another member names the same bytes; without it the item is what it was. */
      readonly as?: NamedBytes
    }
  | { readonly kind: 'undecided'; readonly blob: Blob }

/**
 * The item that a sender without bytes must mean: clients push again what they just pulled.
 *
 * A hash that is not of the item that has the name means other content under that name: some
 * clients do not upload where the name is known, and have to hear of it.
 *
 * @param md5Of Finds the MD5 of a blob, where it is known by now; version 2 of the protocol named
 *   pictures by it.
 * @throws {DomainError} `NOTHING_STAGED`.
 */
export function findMeant(
  inbound: InboundItem,
  latest: Pick<LatestItem, 'current' | 'binary'>,
  md5Of: (blob: Blob) => string | undefined,
): Meant {
  if (inbound.origin.kind === 'peer') return findRenamed(inbound, latest)
  const { hash, bytes } = inbound
  const stored = [latest.current, latest.binary].filter((candidate) => candidate !== undefined)
  if (bytes.kind === 'batch') {
    // The answer to the first such document was lost.
    const made = stored.find(({ item }) => item.batch === bytes.batch)
    if (made === undefined) throw nothingStaged()
    return { kind: 'known', stored: made }
  }
  const meant = stored.find(({ item }) => matchesHash(item, hash))
  if (meant !== undefined) return { kind: 'known', stored: meant }
  const name = nameOf(inbound)
  const named = stored.find(({ item }) => name !== '' && item.dataName === name)
  if (named !== undefined && !isHash(hash)) return { kind: 'known', stored: named }
  const blob = hash.length === MD5_LENGTH ? named?.blob : undefined
  if (named !== undefined && blob !== undefined && blob.size <= MAX_MD5_BYTES) {
    const md5 = md5Of(blob)
    if (md5 === undefined) return { kind: 'undecided', blob }
    if (md5 === hash.toLowerCase()) return { kind: 'known', stored: named }
  }
  throw nothingStaged()
}

/**
 * The bytes that another member has too, under its name. Members send the SHA-256 of the content,
 * so that none of the other hashes of an item counts, which clients made up.
 */
function findRenamed(
  { type, dataName, hash, mediaType: told }: InboundItem,
  latest: Pick<LatestItem, 'current' | 'binary'>,
): Meant {
  const stored = findByContent(hash, latest).find((candidate) => candidate.blob !== undefined)
  const blob = stored?.blob
  if (stored === undefined || blob === undefined) throw nothingStaged()
  if (type === 'Text' || dataName === '') throw nothingStaged()
  const mediaType =
    told === undefined ? stored.item.mediaType : classifyMediaType(told, new Uint8Array(), dataName)
  const as = { type: typeOf(type, mediaType), dataName, mediaType, blob }
  return { kind: 'known', stored, as }
}

/** The items whose bytes have this SHA-256. */
function findByContent(
  hash: string,
  { current, binary }: Pick<LatestItem, 'current' | 'binary'>,
): readonly StoredItem[] {
  const stored = [current, binary].filter((candidate) => candidate !== undefined)
  return stored.filter(({ item }) => item.contentHash === hash.toLowerCase())
}

function nothingStaged(): DomainError {
  return new DomainError('NOTHING_STAGED', 'Cannot apply the item: its bytes were not uploaded')
}

function tooLarge(maxBytes: number): DomainError {
  return new DomainError(
    'TEXT_TOO_LARGE',
    `Cannot apply a text of more than ${maxBytes} bytes in JSON`,
  )
}

async function readText(blob: Blob, maxBytes: number): Promise<string> {
  if (blob.size > maxBytes) throw tooLarge(maxBytes)
  const bytes = await readWhole(blob)
  try {
    return withoutByteOrderMark(decodeUtf8(bytes))
  } catch (cause) {
    throw new DomainError('TEXT_NOT_UTF8', 'Cannot apply a text that is not UTF-8', { cause })
  }
}

/** Describes new content as an item. @param activatedAt Unix milliseconds. */
export async function describeItem(
  inbound: InboundItem,
  content: NamedBytes | HashedText,
  activatedAt: number,
): Promise<Item> {
  if ('text' in content) {
    const { text, size, digests } = content
    const { sha256, blake3 } = digests
    return {
      type: 'Text',
      text,
      dataName: '',
      mediaType: 'text/plain',
      size,
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
    text: inbound.text === '' ? dataName : cutText(inbound.text, MAX_NAME_TEXT_BYTES),
    dataName,
    mediaType,
    size: blob.size,
    contentId: await contentIdOf(type, blake3),
    contentHash: sha256,
    nameHash: nameHashOf(dataName, sha256),
    aliases: blob.groupHash === undefined ? [] : [blob.groupHash],
    activatedAt,
    ...(inbound.bytes.kind === 'batch' ? { batch: inbound.bytes.batch } : {}),
  }
}

/**
 * The hashes by which clients may ask for an item, with the one that its sender told, and at the
 * end the one that was found out here. The same content keeps those it was known by.
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
  const [ownHash = ''] = item.aliases
  return [formerName, hash, ownHash].reduce(
    (known, alias) => withAlias({ ...item, aliases: known }, alias),
    aliases,
  )
}

/** Whether two items have the same content, whatever their names. */
export function isSame(a: Item, b: Item): boolean {
  return a.contentId === b.contentId && a.type === b.type
}

/** `clipboard-20260131-123456.png`: another name each second, for clients that cache by name. */
export function nameOfNow(extension: string, now: number): string {
  const [date = '', time = ''] = new Date(now).toISOString().split(/[T.]/)
  const stamp = `${date.replaceAll('-', '')}-${time.replaceAll(':', '')}`
  return `clipboard-${stamp}.${extension}`
}
