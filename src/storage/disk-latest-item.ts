/**
 * The current item in `item.json`, the bytes of the latest one that has some, and of those before
 * it that are still to be saved as files.
 *
 * The bytes are on the disk before the file refers to them, and the file is replaced as a whole:
 * whenever the program dies, the earlier item is there or the new one.
 * @module
 */

import { cutText, isBatchId, isDataName, type Item, ITEM_TYPES, type Sender } from '../core/item.ts'
import { MAX_METADATA_BYTES, MAX_NAME_TEXT_BYTES } from '../core/limits.ts'
import { defineJsonFile, NewerVersionError, writeFileAtomically } from '../lib/atomic-file.ts'
import {
  arrayOf,
  decodeNumber,
  type Decoder,
  decodeString,
  matching,
  objectOf,
  oneOf,
  optional,
} from '../lib/decoder.ts'
import { encodeWithText, prepareText } from '../lib/long-text.ts'
import type { Blob } from '../ports/blob.ts'
import type { LatestItem, PutOptions, StoredItem } from '../ports/latest-item.ts'
import type { Logger } from '../ports/logger.ts'
import type { DiskBlobStore, KnownBlob } from './blobs/disk-blob-store.ts'
import { DiskBlob } from './blobs/disk-blob.ts'
import { toCorrupt, toDomainError } from './home/disk-errors.ts'
import { GroupBlob } from './blobs/group-blob.ts'
import { readOwnFile } from './home/own-files.ts'
import { isContentId } from '../core/content-id.ts'
import { isStamp, type Stamp } from '../core/stamp.ts'
import {
  decodeBlobName,
  decodeCount,
  decodeDecimal,
  decodeDigest,
  decodeNanoseconds,
  decodeMediaType,
} from './blobs/record-fields.ts'

/** Says what is safe to do: without the file nothing refers to the bytes, and they are swept. */
const REMEDY =
  'restore the data directory from a copy; or copy it first, since the bytes of the item go ' +
  'with this file, and then move the file away'

interface DiskLatestItemOptions {
  /** The file, in a folder that exists and that is ours alone. */
  readonly path: string
  readonly blobs: Pick<DiskBlobStore, 'sync' | 'restore' | 'restoreGroup' | 'adopted'>
  readonly logger: Logger
}

interface BinaryItem extends StoredItem {
  readonly blob: StoredBlob
}

type StoredBlob = DiskBlob | GroupBlob

interface Content {
  readonly text: StoredItem | undefined
  readonly binary: BinaryItem | undefined
  readonly unsaved: readonly BinaryItem[]
}

/** The latest item of a data directory. */
export class DiskLatestItem implements LatestItem {
  readonly #options: DiskLatestItemOptions
  #content: Content = { text: undefined, binary: undefined, unsaved: [] }

  private constructor(options: DiskLatestItemOptions) {
    this.#options = options
  }

  /**
   * Reads the file; without one there is no item.
   *
   * @throws {DomainError} `DATA_CORRUPT`, naming the file and the remedy, also when bytes of ours
   *   are missing; `DATA_DIRECTORY_UNUSABLE`. The file is left as it is.
   */
  static async open(options: DiskLatestItemOptions): Promise<DiskLatestItem> {
    const latest = new DiskLatestItem(options)
    try {
      await latest.#load()
    } catch (error) {
      throw toCorrupt(options.path, error, REMEDY)
    }
    return latest
  }

  get current(): StoredItem | undefined {
    return this.#content.text ?? this.#content.binary
  }

  get binary(): StoredItem | undefined {
    return this.#content.binary
  }

  get unsaved(): readonly StoredItem[] {
    return this.#content.unsaved
  }

  /** Names of what belongs to the items: of their blobs, or of lists and their members. */
  get blobNames(): ReadonlySet<string> {
    const { binary, unsaved } = this.#content
    return new Set([binary, ...unsaved].flatMap((stored) => ownNamesOf(stored?.blob)))
  }

  async prepare(blob: Blob): Promise<void> {
    await this.#options.blobs.sync(toStoredBlob(blob))
  }

  async put(
    item: Item,
    blob: Blob | undefined,
    { isToSave = false }: PutOptions = {},
  ): Promise<StoredItem> {
    if (blob === undefined) {
      const text = { item, blob }
      await this.#replace({ ...this.#content, text })
      return text
    }
    const ours = toStoredBlob(blob)
    const { binary: replaced, unsaved } = this.#content
    // Bytes that were synced when they came are only looked at here. All pushes wait meanwhile, so
    // files of the user, whose share may hang, are not: they were looked at when they came.
    if (!ours.isOfUser) await this.#options.blobs.sync(ours)
    const binary = { item, blob: ours }
    const waiting = isToSave ? [...unsaved, binary] : unsaved
    await this.#replace({ text: undefined, binary, unsaved: waiting })
    await this.#discardUnused(replaced)
    return binary
  }

  async endSaving(...items: readonly StoredItem[]): Promise<void> {
    const unsaved = this.#content.unsaved.filter((waiting) => !items.includes(waiting))
    await this.#replace({ ...this.#content, unsaved })
    for (const stored of items) await this.#discardUnused(stored)
  }

  async #discardUnused(stored: StoredItem | undefined): Promise<void> {
    // A file of the user has no name of ours, and stays anyway.
    const [name] = ownNamesOf(stored?.blob)
    if (name !== undefined && !this.blobNames.has(name)) await stored?.blob?.discard()
  }

  async #replace(content: Content): Promise<void> {
    await this.#save(content)
    this.#content = content
  }

  async #save({ text, binary, unsaved }: Content): Promise<void> {
    const inFile = binary && toRecord(binary)
    const waiting = unsaved.length === 0 ? undefined : unsaved.map(toRecord)
    const format = (item?: Item): string =>
      formatItemFile({ text: item, binary: inFile, unsaved: waiting })
    if (text !== undefined) await prepareText(text.item)
    const content = text === undefined ? format() : encodeWithText(text.item, format)
    try {
      const pieces = typeof content === 'string' ? content : content.pieces
      await writeFileAtomically(this.#options.path, pieces)
    } catch (error) {
      throw toDomainError(error, 'Cannot keep the item')
    }
  }

  async #load(): Promise<void> {
    const content = await readOwnFile(this.#options.path)
    if (content === undefined) return
    const { text, binary, unsaved = [] } = parseItemFile(content)
    // Or the first reader of a long one would keep all others waiting.
    if (text !== undefined && (await this.#prepareFitting(text))) {
      this.#content = { ...this.#content, text: { item: text, blob: undefined } }
    }
    if (binary === undefined) return
    const { item } = binary
    const blob = await this.#restore(binary)
    const waiting: BinaryItem[] = []
    for (const record of unsaved) {
      const { name, group = name } = record.blob
      // The current one may wait, too, and there is one blob of one name.
      const isCurrent = group !== undefined && group === blob.ownName
      waiting.push({ item: record.item, blob: isCurrent ? blob : await this.#restore(record) })
    }
    const cut = cutText(item.text, MAX_NAME_TEXT_BYTES)
    const kept = { item: cut === item.text ? item : { ...item, text: cut }, blob }
    this.#content = { ...this.#content, binary: kept, unsaved: waiting }
    // Where the disk takes nothing now, the next push writes it.
    if (kept.item !== item) await this.#save(this.#content).catch(() => undefined)
  }

  /** Earlier versions took longer texts from other daemons. */
  async #prepareFitting(item: Item): Promise<boolean> {
    const most = MAX_METADATA_BYTES
    if (await prepareText(item, most + 2)) return true
    this.#options.logger.warn('Left out a text that is too long', { type: item.type, most })
    return false
  }

  async #restore({ item, blob: { name, file, group, blake3 } }: BinaryRecord): Promise<StoredBlob> {
    const { blobs } = this.#options
    const { size } = item
    const digests = { sha256: item.contentHash, blake3 }
    if (file !== undefined) {
      const { path, ino, mtimeNs, modifiedAt } = file
      const identity = { size, ino: BigInt(ino), dev: undefined, mtimeNs: BigInt(mtimeNs) }
      return blobs.adopted(path, identity, digests, modifiedAt)
    }
    if (group !== undefined) return this.#restoreGroup(group, { size, digests })
    const blob = name === undefined ? undefined : await blobs.restore(name, { size, digests })
    if (blob === undefined) throw new TypeError(`its bytes (blobs/${name}) are missing or cut off`)
    return blob
  }

  async #restoreGroup(name: string, known: KnownBlob): Promise<GroupBlob> {
    try {
      const blob = await this.#options.blobs.restoreGroup(name, known)
      if (blob === undefined) throw new TypeError('it is missing')
      return blob
    } catch (error) {
      if (!(error instanceof TypeError) || error instanceof NewerVersionError) throw error
      throw new TypeError(`its list of files (blobs/${name}) cannot be read: ${error.message}`)
    }
  }
}

function toStoredBlob(blob: Blob): StoredBlob {
  if (blob instanceof DiskBlob || blob instanceof GroupBlob) return blob
  throw new Error('Cannot store a blob of another store')
}

/** The names in the folder of blobs of what is ours. */
function ownNamesOf(blob: Blob | undefined): readonly string[] {
  if (blob instanceof GroupBlob) return blob.ownNames
  return blob instanceof DiskBlob && blob.ownName !== undefined ? [blob.ownName] : []
}

function toRecord({ item, blob }: BinaryItem): BinaryRecord {
  return { item, blob: toReference(blob) }
}

function toReference(blob: StoredBlob): BlobReference {
  const { blake3 } = blob.digests
  if (blob instanceof GroupBlob) return { group: blob.ownName, blake3 }
  const { ownName, path, identity, modifiedAt } = blob
  if (ownName !== undefined) return { name: ownName, blake3 }
  const { ino, mtimeNs = 0n } = identity
  return { file: { path, ino: String(ino), mtimeNs: String(mtimeNs), modifiedAt }, blake3 }
}

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
  madeOf: optional(decodeString),
  stamp: optional(decodeStamp),
  sender: optional(decodeSender),
  replaced: optional(arrayOf(decodeString)),
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
