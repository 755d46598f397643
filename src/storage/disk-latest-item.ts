/**
 * The current item in `item.json`, and the bytes of the latest one that has some.
 *
 * The bytes are on the disk before the file refers to them, and the file is replaced as a whole:
 * whenever the program dies, the earlier item is there or the new one.
 * @module
 */

import type { Item } from '../core/item.ts'
import { MAX_METADATA_BYTES, MAX_NAME_TEXT_BYTES } from '../core/limits.ts'
import { cutText, jsonLengthOf } from '../core/text-length.ts'
import { writeFileAtomically } from '../lib/atomic-file.ts'
import { NewerVersionError } from '../lib/json-file.ts'
import { encodeWithText, prepareText } from '../lib/long-text.ts'
import type { Blob } from '../ports/blob.ts'
import type { LatestItem, StoredItem } from '../ports/latest-item.ts'
import type { Logger } from '../ports/logger.ts'
import type { DiskBlobStore, KnownBlob } from './blobs/disk-blob-store.ts'
import { DiskBlob } from './blobs/disk-blob.ts'
import { toCorrupt, toDomainError } from './home/disk-errors.ts'
import { GroupBlob } from './blobs/group-blob.ts'
import {
  formatItemFile,
  parseItemFile,
  type BinaryRecord,
  type BlobReference,
} from './item-file.ts'
import { readOwnFile } from './home/own-files.ts'

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

/** An item with bytes. */
interface BinaryItem extends StoredItem {
  readonly blob: StoredBlob
}

type StoredBlob = DiskBlob | GroupBlob

/** The latest item of a data directory. */
export class DiskLatestItem implements LatestItem {
  readonly #options: DiskLatestItemOptions
  #text: StoredItem | undefined
  #binary: BinaryItem | undefined

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
    return this.#text ?? this.#binary
  }

  get binary(): StoredItem | undefined {
    return this.#binary
  }

  /** Names of what belongs to the item: of its blob, or of a list and its members. */
  get blobNames(): ReadonlySet<string> {
    const blob = this.#binary?.blob
    if (blob instanceof GroupBlob) return new Set(blob.ownNames)
    return new Set(blob?.ownName === undefined ? [] : [blob.ownName])
  }

  async prepare(blob: Blob): Promise<void> {
    await this.#options.blobs.sync(toStoredBlob(blob))
  }

  async put(item: Item, blob: Blob | undefined): Promise<StoredItem> {
    if (blob === undefined) {
      const text = { item, blob }
      await this.#save(text, this.#binary)
      this.#text = text
      return text
    }
    const ours = toStoredBlob(blob)
    const replaced = this.#binary?.blob
    // Bytes that were synced when they came are only looked at here.
    await this.#options.blobs.sync(ours)
    const binary = { item, blob: ours }
    await this.#save(undefined, binary)
    this.#text = undefined
    this.#binary = binary
    if (replaced !== undefined && replaced !== blob) await replaced.discard()
    return binary
  }

  async #save(text: StoredItem | undefined, binary: BinaryItem | undefined): Promise<void> {
    const inFile = binary && { item: binary.item, blob: toReference(binary.blob) }
    const format = (item?: Item): string => formatItemFile({ text: item, binary: inFile })
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
    const { text, binary } = parseItemFile(content)
    if (text !== undefined && this.#isFit(text)) {
      // Or the first reader of a long one would keep all others waiting.
      await prepareText(text)
      this.#text = { item: text, blob: undefined }
    }
    if (binary === undefined) return
    const { item } = binary
    this.#binary = { item, blob: await this.#restore(binary) }
    const cut = cutText(item.text, MAX_NAME_TEXT_BYTES)
    if (cut === item.text) return
    this.#binary = { ...this.#binary, item: { ...item, text: cut } }
    // Where the disk takes nothing now, the next push writes it.
    await this.#save(this.#text, this.#binary).catch(() => undefined)
  }

  /** Earlier versions took longer texts from other daemons. */
  #isFit({ type, text }: Item): boolean {
    if (jsonLengthOf(new TextEncoder().encode(text)) <= MAX_METADATA_BYTES) return true
    this.#options.logger.warn('Left out a text that is too long', {
      type,
      most: MAX_METADATA_BYTES,
    })
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

function toReference(blob: StoredBlob): BlobReference {
  const { blake3 } = blob.digests
  if (blob instanceof GroupBlob) return { group: blob.ownName, blake3 }
  const { ownName, path, identity, modifiedAt } = blob
  if (ownName !== undefined) return { name: ownName, blake3 }
  const { ino, mtimeNs = 0n } = identity
  return { file: { path, ino: String(ino), mtimeNs: String(mtimeNs), modifiedAt }, blake3 }
}
