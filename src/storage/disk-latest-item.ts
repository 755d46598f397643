/**
 * The current item in `item.json`, and the bytes of the latest one that has some.
 *
 * The bytes are on the disk before the file refers to them, and the file is replaced as a whole:
 * whenever the program dies, the earlier item is there or the new one.
 *
 * @module
 */

import { DomainError } from '../core/domain-error.ts'
import type { Item } from '../core/item.ts'
import { writeFileAtomically } from '../lib/atomic-file.ts'
import type { Blob } from '../ports/blob.ts'
import type { LatestItem, StoredItem } from '../ports/latest-item.ts'
import type { DiskBlobStore } from './disk-blob-store.ts'
import { DiskBlob } from './disk-blob.ts'
import { toDomainError } from './disk-errors.ts'
import {
  formatItemFile, parseItemFile, type BinaryRecord, type BlobReference,
} from './item-file.ts'
import { readOwnFile } from './own-files.ts'
import { NewerVersionError } from './record-fields.ts'

export interface DiskLatestItemOptions {
  /** The file, in a folder that exists and that is ours alone. */
  readonly path: string
  readonly blobs: Pick<DiskBlobStore, 'sync' | 'restore' | 'adopted'>
}

/** An item of the types that have bytes. */
interface BinaryItem extends StoredItem {
  readonly blob: DiskBlob
}

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
      if (!(error instanceof TypeError)) throw error
      const message = `Cannot read ${options.path}: ${error.message}; ${remedyOf(error)}`
      throw new DomainError('DATA_CORRUPT', message)
    }
    return latest
  }

  get current(): StoredItem | undefined {
    return this.#text ?? this.#binary
  }

  get binary(): StoredItem | undefined {
    return this.#binary
  }

  /** Name of the blob that the item refers to: not to be swept. */
  get blobName(): string | undefined {
    const source = this.#binary?.blob.source
    return source?.kind === 'own' ? source.name : undefined
  }

  async put(item: Item, blob: Blob | undefined): Promise<StoredItem> {
    if (blob === undefined) {
      const text = { item, blob }
      await this.#save(text, this.#binary)
      this.#text = text
      return text
    }
    if (!(blob instanceof DiskBlob)) throw new TypeError('Cannot store a blob of another store')
    const replaced = this.#binary?.blob
    // What is there already was synced when it came; its presence is checked all the same.
    await this.#options.blobs.sync(blob)
    const binary = { item, blob }
    await this.#save(undefined, binary)
    this.#text = undefined
    this.#binary = binary
    if (replaced !== undefined && replaced !== blob) await replaced.discard()
    return binary
  }

  async #save(text: StoredItem | undefined, binary: BinaryItem | undefined): Promise<void> {
    const file = { text: text?.item, binary: binary && toRecord(binary) }
    try {
      await writeFileAtomically(this.#options.path, formatItemFile(file))
    } catch (error) {
      throw toDomainError(error, 'Cannot keep the item')
    }
  }

  async #load(): Promise<void> {
    const content = await readOwnFile(this.#options.path)
    if (content === undefined) return
    const { text, binary } = parseItemFile(content)
    this.#text = text && { item: text, blob: undefined }
    this.#binary = binary && { item: binary.item, blob: await this.#restore(binary) }
  }

  async #restore({ item, blob: { name, file, blake3 } }: BinaryRecord): Promise<DiskBlob> {
    const { blobs } = this.#options
    const { size } = item
    const digests = { sha256: item.contentHash, blake3 }
    if (file !== undefined) {
      const { path, ino, mtimeNs, modifiedAt } = file
      const identity = { size, ino: BigInt(ino), dev: undefined, mtimeNs: BigInt(mtimeNs) }
      return blobs.adopted(path, identity, digests, modifiedAt)
    }
    const blob = name === undefined ? undefined : await blobs.restore(name, { size, digests })
    if (blob === undefined) throw new TypeError(`its bytes (blobs/${name}) are missing or cut off`)
    return blob
  }
}

/** What is safe to do. Once the file is gone, nothing refers to the bytes, and they are swept. */
function remedyOf(error: TypeError): string {
  if (error instanceof NewerVersionError) return 'run that version'
  return (
    'restore the data directory from a copy; or copy it first, since the bytes of the item go ' +
    'with this file, and then move the file away'
  )
}

function toRecord({ item, blob }: BinaryItem): BinaryRecord {
  return { item, blob: toReference(blob) }
}

function toReference({ source, path, identity, digests, modifiedAt }: DiskBlob): BlobReference {
  const { blake3 } = digests
  if (source.kind === 'own') return { name: source.name, file: undefined, blake3 }
  const { ino, mtimeNs = 0n } = identity
  const file = { path, ino: String(ino), mtimeNs: String(mtimeNs), modifiedAt }
  return { name: undefined, file, blake3 }
}
