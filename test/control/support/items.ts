/**
 * Items for the panel to show.
 * @module
 */

import { contentIdOf } from '../../../src/hashing/file-hasher.ts'
import type { Blob } from '../../../src/ports/blob.ts'
import type { StoredItem } from '../../../src/ports/latest-item.ts'
import type { RecentItem } from '../../../src/ports/panel.ts'
import * as items from '../../support/latest-item-contract.ts'
import { blobOf } from '../../support/memory-blob.ts'

export async function textItem(text: string): Promise<StoredItem> {
  return { item: await items.textItem(text), blob: undefined }
}

export interface BytesItem {
  readonly type?: 'Image' | 'File' | 'Group'
  readonly dataName?: string
  readonly mediaType?: string
  readonly bytes: Uint8Array
  /** Instead of the size of the bytes. */
  readonly size?: number
}

export async function bytesItem(known: BytesItem): Promise<StoredItem> {
  const { type = 'Image', dataName = 'a.png', mediaType = 'image/png', bytes } = known
  const blob = await blobOf(bytes)
  const { size = bytes.length } = known
  const contentId = await contentIdOf(type, blob.digests.blake3)
  const item = { ...(await items.fileItem(dataName, blob)), type, mediaType, size, contentId }
  return { item, blob }
}

/** The bytes of a recent item. */
export function bytesOfLate(content: string): Blob {
  const bytes = Buffer.from(content)
  const read = async (target: Uint8Array, from: number) => bytes.copy(target, 0, from)
  return { size: bytes.length, open: async () => ({ read, close: async () => {} }) }
}

/** A recent text, which was copied. */
export function recentText(id: string, text: string): RecentItem {
  const sender = { kind: 'clipboard', deviceId: undefined } as const
  const facts = { dataName: '', mediaType: 'text/plain', size: text.length, activatedAt: 5 }
  const hashes = { contentHash: id, contentId: `blake3v1:${id}` } as const
  return {
    id,
    type: 'Text',
    text,
    ...facts,
    ...hashes,
    sender,
    readers: new Set(),
    blob: bytesOfLate(text),
  }
}
