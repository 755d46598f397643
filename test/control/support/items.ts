/**
 * Items for the panel to show.
 * @module
 */

import { digestsOf, contentIdOf } from '../../../src/hashing/content-id.ts'
import type { StoredItem } from '../../../src/ports/latest-item.ts'
import { MemoryBlobStore } from '../../support/memory-blob-store.ts'

const AT = Date.UTC(2026, 0, 31)

export async function textItem(text: string): Promise<StoredItem> {
  const { sha256, blake3 } = await digestsOf(Buffer.from(text))
  const item = {
    type: 'Text',
    text,
    dataName: '',
    mediaType: 'text/plain',
    size: Buffer.byteLength(text),
    contentId: await contentIdOf('Text', blake3),
    contentHash: sha256,
    nameHash: sha256,
    aliases: [],
    activatedAt: AT,
  } as const
  return { item, blob: undefined }
}

export interface BytesItem {
  readonly type?: 'Image' | 'File' | 'Group'
  readonly dataName?: string
  readonly mediaType?: string
  readonly bytes: Uint8Array
  /** Instead of the size of the bytes. */
  readonly size?: number
}

export async function bytesItem({
  type = 'Image',
  dataName = 'a.png',
  mediaType = 'image/png',
  bytes,
  size = bytes.length,
}: BytesItem): Promise<StoredItem> {
  const chunks = (async function* () {
    yield bytes
  })()
  const blob = await new MemoryBlobStore().receive(chunks, { maxBytes: bytes.length })
  const { sha256, blake3 } = blob.digests
  const item = {
    type,
    text: dataName,
    dataName,
    mediaType,
    size,
    contentId: await contentIdOf(type, blake3),
    contentHash: sha256,
    nameHash: sha256,
    aliases: [],
    activatedAt: AT,
  } as const
  return { item, blob }
}
