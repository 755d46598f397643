/**
 * Wire format of `/Sync.json` and `/SyncClipboard.json`. Only this file knows its field names.
 * @module
 */

import { isHash, type Item, type ItemType, MAX_HASH_LENGTH } from '../../core/item.ts'
import { isStamp, type Stamp } from '../../core/stamp.ts'
import { badBody } from '../../http/http-error.ts'
import type { Dialect } from '../../ports/device-registry.ts'
import type { BatchBytes } from '../../ports/inbound-pipeline.ts'
import { readBatch } from './batch.ts'
import { pickFields, fieldOf, isBytes, toDataName, toItemType } from './fields.ts'

/** A document as a client sent it; absent fields have their defaults. */
export interface ClipboardDocument {
  readonly type: ItemType
  readonly text: string
  /** A long Text, of which `text` is the beginning. */
  readonly utf8?: Uint8Array<ArrayBuffer>
  readonly hasData: boolean
  /** Empty, or a valid data name. */
  readonly dataName: string
  /** A hint; empty when there was none. */
  readonly hash: string
  /** Written with the keys of versions 1 and 2 of the protocol. */
  readonly usesOldKeys: boolean
  /** The stamp that another member of the circle gave it. */
  readonly stamp: Stamp | undefined
  /** The media type that another member of the circle gave it. */
  readonly mediaType?: string
  /** The uploads that it is made of, where it names them. */
  readonly batch: BatchBytes | undefined
}

/** A document as clients read it. */
export interface WireDocument {
  readonly type: ItemType
  readonly text: string
  readonly hasData: boolean
  /** Bytes. */
  readonly size: number
  readonly hash: string
  readonly dataName: string
  readonly contentId?: string
}

/** Fields that say something of the item. */
const DESCRIPTION = [
  'text',
  'hasData',
  'size',
  'hash',
  'dataName',
  'contentId',
  // Protocol v1 and v2 called the text so, or the hash of what is no text, and the data name.
  'clipboard',
  'file',
]

const BATCH = ['batch', 'members']

/** The last three are of peers only. */
const FIELDS = ['type', ...DESCRIPTION, ...BATCH, 'stampedAt', 'stampedBy', 'mediaType']

/** The document while there is no item. */
const EMPTY_DOCUMENT: WireDocument = {
  type: 'Text',
  text: '',
  hasData: false,
  size: 0,
  hash: '',
  dataName: '',
}

/**
 * Decodes a document.
 *
 * @param dialect In that of the reference protocol, one without a type is a Text.
 * @throws {HttpError} `BAD_BODY` naming the field that does not fit; `BAD_NAME`.
 */
export function decodeDocument(body: unknown, dialect: Dialect): ClipboardDocument {
  const fields = pickFields(body, FIELDS)
  const type = toItemType(fieldOf(fields, 'type', 'string', dialect === 'sync' ? '' : 'Text'))
  // An empty text that was sent on purpose says so; see `clipboard-pipeline.ts`.
  if (![...DESCRIPTION, ...BATCH].some((name) => fields.has(name.toLowerCase()))) {
    throw badBody('nothing known but a "type"')
  }
  // Hints that nobody acts on are checked all the same: a wrong type means a confused client.
  fieldOf(fields, 'size', 'number', undefined)
  fieldOf(fields, 'contentId', 'string', undefined)

  const oldName = fieldOf(fields, 'file', 'string', '')
  const dataName = toDataName(fieldOf(fields, 'dataName', 'string', oldName))
  const long = type === 'Text' ? (fields.get('text') ?? fields.get('clipboard')) : undefined
  const utf8 = isBytes(long) ? long : undefined
  const clipboard = fieldOf(fields, 'clipboard', 'string', '')
  const isOldHash = type !== 'Text' && isHash(clipboard)
  const text = fieldOf(fields, 'text', 'string', isOldHash ? '' : clipboard)
  const mediaType = fieldOf(fields, 'mediaType', 'string', undefined)
  const isOfBatch = BATCH.some((name) => fields.has(name))
  const batch = isOfBatch ? readBatch(fields.get('batch'), fields.get('members')) : undefined
  if (batch !== undefined && (type === 'Text' || (type !== 'Group' && batch.numbers.length > 1))) {
    throw badBody('several "members" become a Group')
  }
  const hash = fieldOf(fields, 'hash', 'string', isOldHash ? clipboard : '')
  return {
    batch,
    type,
    text: text.toWellFormed(),
    ...(utf8 === undefined ? {} : { utf8 }),
    hasData: fieldOf(fields, 'hasData', 'boolean', false),
    dataName,
    // It is a hint, and nothing as long is a hash.
    hash: hash.length > MAX_HASH_LENGTH ? '' : hash,
    usesOldKeys: fields.has('clipboard') && !fields.has('text'),
    stamp: readStamp(fields),
    ...(mediaType === undefined ? {} : { mediaType }),
  }
}

/**
 * Encodes the document of an item, or of none.
 *
 * @param instead Fields that a client is told otherwise; with `isOld`, the keys of versions 1 and 2
 *   stand in front: readers that ignore the case of keys take the last of several.
 */
export function encodeDocument(
  item: Item | undefined,
  dialect: Dialect,
  { isOld = false, ...instead }: Partial<WireDocument> & { readonly isOld?: boolean } = {},
  textLength?: number,
): string {
  const document = { ...documentOf(item, dialect, textLength), ...instead }
  const { type, text, hash, dataName } = document
  const clipboard = type === 'Text' ? text : hash
  const old = { File: dataName, Clipboard: clipboard, Type: type }
  return JSON.stringify(isOld ? { ...old, ...document } : document)
}

/** The document as other members of a group read it: with the stamp of the item, as it counts. */
export function encodePeerDocument(item: Item | undefined, stamp: Stamp | undefined): string {
  if (item === undefined) return JSON.stringify(EMPTY_DOCUMENT)
  const { contentHash: hash } = item
  const stamped = stamp && { stampedAt: stamp.at, stampedBy: stamp.member }
  const mediaType = item.type === 'Text' ? undefined : item.mediaType
  return JSON.stringify({ ...documentOf(item, 'sync'), hash, mediaType, ...stamped })
}

function readStamp(fields: ReadonlyMap<string, unknown>): Stamp | undefined {
  const at = fieldOf(fields, 'stampedAt', 'number', undefined)
  const member = fieldOf(fields, 'stampedBy', 'string', undefined)
  if (at === undefined && member === undefined) return undefined
  const stamp = { at, member }
  if (isStamp(stamp)) return stamp
  throw badBody('"stampedAt" and "stampedBy" are not a stamp')
}

/**
 * The members of a document.
 *
 * @param textLength The units of UTF-16 of its text. Programs of the reference protocol believe
 *   that a Text of any other size has a file, and forget it when there is none.
 */
export function documentOf(
  item: Item | undefined,
  dialect: Dialect,
  textLength: number = item?.text.length ?? 0,
): WireDocument {
  if (item === undefined) return EMPTY_DOCUMENT
  const { type, text, dataName, contentId } = item
  const hasData = type !== 'Text'
  const size = hasData || dialect === 'sync' ? item.size : textLength
  return { type, text, hasData, size, hash: wireHash(item, dialect), dataName, contentId }
}

/**
 * The hash of an item as a dialect spells it.
 *
 * | | `sync` | `syncclipboard` |
 * |---|---|---|
 * | Text | content hash | the same, upper case |
 * | Image, File | content hash | name-bound hash, upper case: clients verify downloads with it |
 * | Group | content hash | that of its files, or the last alias, or the content hash; upper case |
 */
export function wireHash(item: Item, dialect: Dialect): string {
  const { type, contentHash, nameHash, groupHash, aliases } = item
  if (dialect === 'sync') return contentHash
  const hash = type === 'Group' ? (groupHash ?? aliases.at(-1) ?? contentHash) : nameHash
  return hash.toUpperCase()
}
