/**
 * The text of `item.json`: the latest item with bytes, and the text that became current after it.
 *
 * Takes what this version writes and refuses everything else. Messages never quote the file: it
 * holds what somebody copied.
 *
 * @module
 */

import { isContentId } from '../core/content-id.ts'
import { isDataName } from '../core/data-name.ts'
import { ITEM_TYPES } from '../core/item-type.ts'
import type { Item } from '../core/item.ts'
import { isStamp, type Stamp } from '../core/stamp.ts'
import {
  arrayOf,
  decodeNumber,
  decodeString,
  objectOf,
  oneOf,
  optional,
  type Decoder,
} from '../lib/decoder.ts'
import { NewerVersionError } from './record-fields.ts'

/** Where the bytes of an item are: in a blob of ours, in a file of the user, or in several. */
export interface BlobReference {
  /** Name in the folder of blobs. */
  readonly name?: string | undefined
  readonly file?: UserFileReference | undefined
  /** Name of the list of the files, in the folder of blobs. */
  readonly group?: string | undefined
  /** Lower-case hex. */
  readonly blake3: string
}

/** A file that stays where it is, as it was when it was hashed. */
export interface UserFileReference {
  readonly path: string
  /** 64-bit numbers in decimal. */
  readonly ino: string
  readonly mtimeNs: string
  /** Unix milliseconds. */
  readonly modifiedAt: number
}

export interface BinaryRecord {
  readonly item: Item
  readonly blob: BlobReference
}

/** What `item.json` holds. */
export interface ItemFile {
  /** The current item, when it is a Text; else the binary item is current. */
  readonly text: Item | undefined
  readonly binary: BinaryRecord | undefined
}

const VERSION = 2

/** Written where it suffices, so that an earlier program can still read the file. */
const VERSION_WITHOUT_GROUPS = 1

const HEX_64 = /^[0-9a-f]{64}$/
const BLOB_NAME = /^[0-9a-f]{32}$/
const DECIMAL = /^[0-9]{1,20}$/

/** Before 1970 as well. */
const NANOSECONDS = /^-?[0-9]{1,20}$/

const decodeHash = matching(decodeString, (text) => HEX_64.test(text), '64 hex digits')
const decodeCount = matching(
  decodeNumber,
  (value) => Number.isSafeInteger(value) && value >= 0,
  'a whole number',
)
const decodeDecimal = matching(decodeString, (text) => DECIMAL.test(text), 'a decimal number')
const decodeNanoseconds = matching(decodeString, (text) => NANOSECONDS.test(text), 'a time')

const decodeBlobName = matching(decodeString, (name) => BLOB_NAME.test(name), 'a blob name')

const decodeContentId: Decoder<Item['contentId']> = (value, path = 'value') => {
  if (isContentId(value)) return value
  throw new TypeError(`"${path}" must be a content id`)
}

const decodeStampFields = objectOf({ at: decodeNumber, member: decodeString })

const decodeStamp: Decoder<Stamp> = matching(decodeStampFields, isStamp, 'a stamp')

const decodeItem: Decoder<Item> = objectOf({
  type: oneOf(ITEM_TYPES),
  text: decodeString,
  dataName: matching(decodeString, (name) => name === '' || isDataName(name), 'a data name'),
  mediaType: matching(decodeString, (type) => /^[ -~]*$/.test(type), 'a media type'),
  size: decodeCount,
  contentId: decodeContentId,
  contentHash: decodeHash,
  nameHash: decodeHash,
  aliases: arrayOf(decodeString),
  activatedAt: decodeNumber,
  stamp: optional(decodeStamp),
})

const decodeBinary: Decoder<BinaryRecord> = objectOf({
  item: matching(
    decodeItem,
    (item) => item.type !== 'Text' && item.dataName !== '',
    'a binary item',
  ),
  blob: matching(
    objectOf({
      name: optional(decodeBlobName),
      file: optional(
        objectOf({
          path: decodeString,
          ino: decodeDecimal,
          mtimeNs: decodeNanoseconds,
          modifiedAt: decodeNumber,
        }),
      ),
      group: optional(decodeBlobName),
      blake3: decodeHash,
    }),
    ({ name, file, group }) => [name, file, group].filter((x) => x !== undefined).length === 1,
    'one blob',
  ),
})

const decodeFile: Decoder<ItemFile> = objectOf({
  text: optional(matching(decodeItem, (item) => item.type === 'Text', 'a Text')),
  binary: optional(decodeBinary),
})

const decodeVersion = objectOf({ version: decodeNumber })

export function formatItemFile(file: ItemFile): string {
  const isGroup = file.binary?.blob.group !== undefined
  const version = isGroup ? VERSION : VERSION_WITHOUT_GROUPS
  return `${JSON.stringify({ version, ...file })}\n`
}

/** @throws {TypeError} saying what is wrong, without quoting it. */
export function parseItemFile(text: string): ItemFile {
  const value = parseJson(text)
  const { version } = decodeVersion(value)
  if (version > VERSION) throw new NewerVersionError()
  if (version !== VERSION && version !== VERSION_WITHOUT_GROUPS) {
    throw new TypeError(`"version" must be at most ${VERSION}`)
  }
  return decodeFile(value)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Without the cause, which quotes the text.
    throw new TypeError('it is not JSON')
  }
}

function matching<Value>(
  decode: Decoder<Value>,
  fits: (value: Value) => boolean,
  expected: string,
): Decoder<Value> {
  return (value, path = 'value') => {
    const decoded = decode(value, path)
    if (fits(decoded)) return decoded
    throw new TypeError(`"${path}" must be ${expected}`)
  }
}
