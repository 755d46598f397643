/**
 * Finds the item that a sender means which has no bytes: clients push again what they just pulled.
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import { isHash, type ItemType, matchesHash } from '../core/item.ts'
import { MIB } from '../core/limits.ts'
import { classifyMediaType, isImageType } from '../core/media-type.ts'
import type { Blob, HashedBlob } from '../ports/blob.ts'
import type { BatchBytes, InboundItem, Origin } from '../ports/inbound-pipeline.ts'
import type { LatestItem, StoredItem } from '../ports/latest-item.ts'

/** Hex digits of an MD5. */
const MD5_LENGTH = 32

/** Nobody waits for the MD5 of more; pictures are smaller. */
const MAX_MD5_BYTES: number = 64 * MIB

/** Whether `hash` may be the MD5 of these bytes, and somebody would wait for that. */
export function mayBeMd5(hash: string, { size }: Pick<Blob, 'size'>): boolean {
  return hash.length === MD5_LENGTH && size <= MAX_MD5_BYTES
}

/** Bytes, and what they are called. */
export interface NamedBytes {
  readonly type: Exclude<ItemType, 'Text'>
  readonly dataName: string
  readonly mediaType: string
  readonly blob: HashedBlob
  /** As `Item` has it. */
  readonly groupHash?: string | undefined
}

/** Some clients name a File in `text` only. */
export function nameOf({
  type,
  text,
  dataName,
}: Pick<InboundItem, 'type' | 'text' | 'dataName'>): string {
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
  | { readonly kind: 'undecided'; readonly blob: HashedBlob }

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
  const { hash, bytes, origin } = inbound
  const stored = storedIn(latest)
  if (bytes.kind === 'batch') {
    // The answer to the first such document was lost.
    const made = stored.find((candidate) => isMadeOf(candidate, bytes, deviceOf(origin)))
    if (made === undefined) throw nothingStaged()
    return { kind: 'known', stored: made }
  }
  const meant = stored.find(({ item }) => matchesHash(item, hash))
  if (meant !== undefined) return { kind: 'known', stored: meant }
  const name = nameOf(inbound)
  const named = stored.find(({ item }) => name !== '' && item.dataName === name)
  if (named !== undefined && !isHash(hash)) return { kind: 'known', stored: named }
  const blob = named?.blob
  if (named !== undefined && blob !== undefined && mayBeMd5(hash, blob)) {
    const md5 = md5Of(blob)
    if (md5 === undefined) return { kind: 'undecided', blob }
    if (md5 === hash.toLowerCase()) return { kind: 'known', stored: named }
  }
  throw nothingStaged()
}

function isMadeOf(
  { item, blob }: StoredItem,
  { batch, numbers }: BatchBytes,
  deviceId: string | undefined,
): boolean {
  if (item.batch !== batch) return false
  if (item.madeOf !== undefined) return item.madeOf === madeOf(numbers, deviceId)
  return (blob?.members?.length ?? 1) === numbers.length
}

/** As `Item` has it. @param numbers Those of the uploads in their batch. */
export function madeOf(numbers: readonly number[], deviceId: string | undefined): string {
  return `${deviceId} ${numbers.join()}`
}

/** The device that an item comes from, or that pushed it to the member that it comes from. */
export function deviceOf(origin: Origin): string | undefined {
  return origin.kind === 'clipboard' ? undefined : origin.deviceId
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
  const { groupHash } = stored.item
  const as = { type: typeOf(type, mediaType), dataName, mediaType, blob, groupHash }
  return { kind: 'known', stored, as }
}

/** The items whose bytes have this SHA-256. */
export function findByContent(
  hash: string,
  latest: Pick<LatestItem, 'current' | 'binary'>,
): readonly StoredItem[] {
  return storedIn(latest).filter(({ item }) => item.contentHash === hash.toLowerCase())
}

/** The items that are here, the current one first. */
export function storedIn({
  current,
  binary,
}: Pick<LatestItem, 'current' | 'binary'>): readonly StoredItem[] {
  return [current, binary].filter((candidate) => candidate !== undefined)
}

/** Its sender has to upload the bytes first. */
export function nothingStaged(): DomainError {
  return new DomainError('NOTHING_STAGED', 'Cannot apply the item: its bytes were not uploaded')
}

/** Some clients call an image a File. */
export function typeOf(type: NamedBytes['type'], mediaType: string): NamedBytes['type'] {
  return type === 'File' && isImageType(mediaType) ? 'Image' : type
}
