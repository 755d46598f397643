/**
 * Finds the content that an inbound item talks about, and makes an item of it.
 *
 * Senders describe, and often describe wrongly: the type follows the bytes, hashes and sizes are
 * hints, and the preview of a long text is never taken for the text.
 * @module
 */

import { isUtf8 } from 'node:buffer'
import { setImmediate as turn } from 'node:timers/promises'
import type { Digests } from '../core/content-id.ts'
import { DomainError } from '../core/domain-error.ts'
import { cutText, isComputedHash, isHash, type Item, withAlias } from '../core/item.ts'
import { MAX_NAME_TEXT_BYTES, MIB } from '../core/limits.ts'
import { contentIdOf, nameHashOf } from '../hashing/file-hasher.ts'
import { measureText, withChanges, withText } from '../lib/long-text.ts'
import { readWhole } from '../lib/read-bytes.ts'
import type { Clock } from '../lib/clock.ts'
import type { Blob, BlobStore, HashedBlob } from '../ports/blob.ts'
import type { BatchBytes, InboundItem } from '../ports/inbound-pipeline.ts'
import type { LatestItem } from '../ports/latest-item.ts'
import type { StagingArea, TakenUpload } from '../ports/staging-area.ts'
import {
  deviceOf,
  findByContent,
  madeOf,
  mayBeMd5,
  nameOf,
  nothingStaged,
  storedIn,
  typeOf,
  type NamedBytes,
} from './find-meant.ts'

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
  readonly subject: { readonly text: string }
  /** Bytes. */
  readonly size: number
  readonly digests: Digests
}

/** Hashes a text. @param utf8 Handed over, and given back: nobody else may use it. */
export type HashText = (
  utf8: Uint8Array<ArrayBuffer>,
) => Promise<Digests & { readonly bytes: Uint8Array }>

/** The endings of content that came without bytes. */
const NO_ENDINGS: ContentEndings = {
  release: async () => undefined,
  discard: async () => undefined,
  giveBack: () => undefined,
}

/** The parts that content is resolved with. */
export interface ResolveDeps {
  readonly staging: Pick<StagingArea, 'take' | 'takeBatch'>
  /** Needed for a batch that becomes a Group, and for the hash of the files of any other. */
  readonly blobs?: Pick<BlobStore, 'bundle' | 'groupHashOf'> | undefined
  readonly clock: Pick<Clock, 'now'>
  readonly latest: Pick<LatestItem, 'current' | 'binary'>
  /** The longest text that may become an item, in bytes of JSON: there documents have it. */
  readonly maxTextBytes: number
  readonly hashText: HashText
  /** The MD5 of bytes in lower-case hex, which takes long. */
  readonly md5Of: (blob: HashedBlob) => Promise<string | undefined>
  /** Looks at bytes that are here. @throws {DomainError} `NOTHING_STAGED` for those of the user. */
  readonly look: (blob: HashedBlob) => Promise<void>
  /** Aborted when nobody waits for the item any more. */
  readonly signal: AbortSignal
}

/**
 * Resolves an inbound item. The result must be ended.
 *
 * @returns `undefined` when there are no bytes: the sender must mean an item that is here.
 * @throws {DomainError} `TEXT_TOO_LARGE`, `TEXT_NOT_UTF8`, `BLOB_GONE`, `GROUP_TOO_LARGE`,
 *   `PACKAGE_MISSING`.
 * @throws `signal.reason` when it is aborted while a Group is made.
 */
export async function resolveContent(
  inbound: InboundItem,
  deps: ResolveDeps,
): Promise<NewContent | undefined> {
  const { type, bytes } = inbound
  if (bytes.kind === 'utf8') return textContent(bytes.utf8, deps)
  if (type === 'Text' && bytes.kind === 'none') return textContent(inbound.text, deps)
  if (bytes.kind === 'received') {
    const endings = { ...NO_ENDINGS, discard: () => bytes.blob.discard() }
    return fromBytes(inbound, { ...bytes, dataName: inbound.dataName }, endings, deps)
  }
  if (bytes.kind === 'batch') return fromBatch(inbound, bytes, deps)

  const upload = await takeUpload(inbound, deps)
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
  text: string | Uint8Array<ArrayBuffer>,
  { maxTextBytes, hashText }: ResolveDeps,
  endings = NO_ENDINGS,
): Promise<NewContent> {
  if (text.length > maxTextBytes) throw tooLarge(maxTextBytes)
  if (text.length > PIECE_BYTES) await turn()
  const utf8 = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const { length: size } = utf8
  const length = await measureText(utf8, maxTextBytes)
  if (length === undefined) throw tooLarge(maxTextBytes)
  const { bytes, ...digests } = await hashText(utf8)
  return { kind: 'text', subject: await withText(bytes, length), size, digests, endings }
}

async function fromBatch(
  inbound: InboundItem,
  { batch, numbers }: BatchBytes,
  deps: ResolveDeps,
): Promise<NewContent | undefined> {
  const { staging, blobs, clock, signal } = deps
  const deviceId = deviceOf(inbound.origin)
  const uploads = deviceId === undefined ? undefined : staging.takeBatch(deviceId, batch, numbers)
  if (uploads === undefined) return undefined
  try {
    const [first] = uploads
    if (inbound.type !== 'Group' && first !== undefined) {
      return await fromBytes(inbound, first, first, deps)
    }
    if (!blobs) throw new Error('There is no store to make a Group in')
    const { blob, dissolve } = await blobs.bundle(uploads, signal)
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
  const content = { kind: 'bytes', type: typeOf(type, mediaType), dataName, mediaType } as const
  if (type !== 'Group') return { ...content, blob, endings }
  // Its sender may tell any hash, and its readers go by what they unpack.
  const groupHash = await deps.blobs?.groupHashOf(blob, deps.signal)
  return { ...content, blob, groupHash, endings }
}

/** A text that another member has too, and that is here as an item or as the bytes of a file. */
async function storedText({ hash }: InboundItem, deps: ResolveDeps): Promise<NewContent> {
  const [stored] = findByContent(hash, deps.latest)
  if (stored === undefined) throw nothingStaged()
  const { item, blob } = stored
  if (!blob) return textContent(item.text, deps)
  await deps.look(blob)
  return textContent(await readText(blob, deps.maxTextBytes), deps)
}

/** Takes what the sender has uploaded of an item, where that waits. The upload must be ended. */
export async function takeUpload(
  inbound: InboundItem,
  deps: Pick<ResolveDeps, 'staging' | 'latest' | 'md5Of'>,
): Promise<TakenUpload | undefined> {
  const { origin, bytes } = inbound
  const deviceId = deviceOf(origin)
  if (deviceId === undefined) return undefined
  const kept = bytes.kind === 'staged' ? bytes.kept : undefined
  for (const name of new Set([nameOf(inbound), kept?.dataName ?? nameOf(inbound)])) {
    const upload = deps.staging.take(deviceId, name)
    if (upload === undefined) continue
    let isTaken = false
    try {
      isTaken = await isMeant(inbound, upload, deps)
      if (isTaken) return upload
    } finally {
      // It is that of another item, which had the same name.
      if (!isTaken) upload.giveBack()
    }
  }
  return undefined
}

/**
 * Whether a document means the upload that has its name. Its hash may be one of a way of its own,
 * unless it is that of an item here, or of an earlier upload of that name, or the upload is one
 * that has to be known by its hash.
 */
async function isMeant(
  { hash, bytes, origin }: InboundItem,
  { dataName, blob, knownAs, replaced = [] }: TakenUpload,
  { latest, md5Of }: Pick<ResolveDeps, 'latest' | 'md5Of'>,
): Promise<boolean> {
  const { kept, isExact = false } = bytes.kind === 'staged' ? bytes : {}
  const { sha256: contentHash } = blob.digests
  // A member says what it means, and uploads it when that is not here.
  if (origin.kind === 'peer') return hash.toLowerCase() === contentHash
  if (kept !== undefined) return contentHash === kept.contentHash
  const isOf = (sha256: string) =>
    isComputedHash({ contentHash: sha256, nameHash: nameHashOf(dataName, sha256) }, hash)
  if (!isHash(hash) || isOf(contentHash) || hash.toLowerCase() === knownAs) return true
  const stored = storedIn(latest)
  // Aliases are what senders told, and do not count.
  if (stored.some(({ item }) => isComputedHash(item, hash)) || replaced.some(isOf)) return false

  const isBound = knownAs !== undefined || isExact
  const named = stored.find(({ item }) => item.dataName === dataName)?.blob
  const isMd5 = async (of: HashedBlob) =>
    mayBeMd5(hash, of) && (await md5Of(of)) === hash.toLowerCase()
  // That of bytes is needed only where something else may be meant.
  if (!isBound && named === undefined) return true
  if (await isMd5(blob)) return true
  return !isBound && !(named !== undefined && (await isMd5(named)))
}

function tooLarge(maxBytes: number): DomainError {
  return new DomainError(
    'TEXT_TOO_LARGE',
    `Cannot apply a text of more than ${maxBytes} bytes in JSON`,
  )
}

async function readText(blob: Blob, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  if (blob.size > maxBytes) throw tooLarge(maxBytes)
  const bytes = await readWhole(blob)
  if (isUtf8(bytes)) return bytes
  throw new DomainError('TEXT_NOT_UTF8', 'Cannot apply a text that is not UTF-8')
}

/** Describes new content as an item. @param activatedAt Unix milliseconds. */
export async function describeItem(
  inbound: InboundItem,
  content: NamedBytes | HashedText,
  activatedAt: number,
): Promise<Item> {
  if ('subject' in content) {
    const { subject, size, digests } = content
    const { sha256, blake3 } = digests
    return withChanges(subject, {
      type: 'Text' as const,
      dataName: '',
      mediaType: 'text/plain',
      size,
      contentId: await contentIdOf('Text', blake3),
      contentHash: sha256,
      nameHash: sha256,
      aliases: [],
      activatedAt,
    })
  }
  const { type, dataName, mediaType, blob, groupHash = blob.groupHash } = content
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
    ...(groupHash === undefined || type !== 'Group' ? {} : { groupHash }),
    aliases: [],
    activatedAt,
    ...batchOf(inbound),
  }
}

function batchOf({ origin, bytes }: InboundItem): Pick<Item, 'batch' | 'madeOf'> {
  if (bytes.kind !== 'batch') return {}
  const { batch, numbers } = bytes
  return { batch, madeOf: madeOf(numbers, deviceOf(origin)) }
}

/**
 * The hashes by which clients may ask for an item, with the one that its sender told. The same
 * content keeps those it was known by.
 */
export function aliasesOf(
  item: Item,
  hash: string,
  latest: Pick<LatestItem, 'current' | 'binary'>,
): readonly string[] {
  const same = storedIn(latest).find((stored) => isSame(stored.item, item))
  const { aliases = [], nameHash = '' } = same?.item ?? {}
  // The hash of a Group is never bound to its name, and nobody was ever shown one that is.
  const { contentHash } = item
  const formerName = item.type === 'Group' ? '' : nameHash
  return [formerName, hash].reduce(
    (known, alias) => withAlias({ contentHash, nameHash: item.nameHash, aliases: known }, alias),
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
