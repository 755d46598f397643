/** The text of `item.json`: the latest item with bytes, and the Text that came after it. @module */

import { isContentId } from '../core/content-id.ts'
import { isBatchId, isDataName, type Item, ITEM_TYPES, type Sender } from '../core/item.ts'
import { isStamp, type Stamp } from '../core/stamp.ts'
import {
  arrayOf,
  decodeNumber,
  decodeString,
  matching,
  objectOf,
  oneOf,
  optional,
  type Decoder,
} from '../lib/decoder.ts'
import { defineJsonFile } from '../lib/json-file.ts'
import {
  decodeBlobName,
  decodeCount,
  decodeDecimal,
  decodeDigest,
  decodeNanoseconds,
  decodeMediaType,
} from './blobs/record-fields.ts'

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
interface UserFileReference {
  readonly path: string
  /** 64-bit numbers in decimal. */
  readonly ino: string
  readonly mtimeNs: string
  /** Unix milliseconds. Programs of before, to which one may go back, do not load it without. */
  readonly modifiedAt: number
}

/** An item with bytes, and where they are. */
export interface BinaryRecord {
  readonly item: Item
  readonly blob: BlobReference
}

/** The content of `item.json`. */
export interface ItemFile {
  /** The current item, when it is a Text; else the binary item is current. */
  readonly text: Item | undefined
  readonly binary: BinaryRecord | undefined
  /** Items whose bytes are not saved as files yet. Programs of before leave it out. */
  readonly unsaved: readonly BinaryRecord[] | undefined
}

const decodeContentId: Decoder<Item['contentId']> = (value, path = 'value') => {
  if (isContentId(value)) return value
  throw new TypeError(`"${path}" must be a content id`)
}

const decodeStamp: Decoder<Stamp> = matching(
  objectOf({ at: decodeNumber, member: decodeString }),
  isStamp,
  'a stamp',
)

const decodeSender: Decoder<Sender> = objectOf({
  kind: oneOf(['clipboard', 'device', 'peer']),
  deviceId: optional(decodeString),
})

const decodeItem: Decoder<Item> = objectOf({
  type: oneOf(ITEM_TYPES),
  text: decodeString,
  dataName: matching(decodeString, (name) => name === '' || isDataName(name), 'a data name'),
  mediaType: decodeMediaType,
  size: decodeCount,
  contentId: decodeContentId,
  contentHash: decodeDigest,
  nameHash: decodeDigest,
  groupHash: optional(decodeDigest),
  aliases: arrayOf(decodeString),
  activatedAt: decodeNumber,
  batch: optional(matching(decodeString, isBatchId, 'a batch')),
  stamp: optional(decodeStamp),
  sender: optional(decodeSender),
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
      blake3: decodeDigest,
    }),
    ({ name, file, group }) => [name, file, group].filter((x) => x !== undefined).length === 1,
    'one blob',
  ),
})

const decodeFile: Decoder<ItemFile> = objectOf({
  text: optional(matching(decodeItem, (item) => item.type === 'Text', 'a Text')),
  binary: optional(decodeBinary),
  unsaved: optional(arrayOf(decodeBinary)),
})

/** Without a Group, version 1 is written, so that an earlier program can still read the file. */
const WITHOUT_GROUP = defineJsonFile({ version: 1, reads: [1, 2], decode: decodeFile })
const WITH_GROUP = defineJsonFile({ version: 2, reads: [1, 2], decode: decodeFile })

/** The text of `item.json`. */
export function formatItemFile(file: ItemFile): string {
  return (file.binary?.blob.group === undefined ? WITHOUT_GROUP : WITH_GROUP).format(file)
}

/**
 * Reads the text of `item.json`.
 *
 * @throws {NewerVersionError} when a later version of this program wrote it.
 * @throws {TypeError} saying what is wrong, without quoting it.
 */
export function parseItemFile(text: string): ItemFile {
  return WITH_GROUP.parse(text)
}
