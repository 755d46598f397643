/**
 * Offers the current item to another daemon, with its bytes when they are not there already.
 * @module
 */

import { ClientError } from '../client/client-error.ts'
import type { OutgoingDocument } from '../client/push.ts'
import type { ByteSource } from '../client/server.ts'
import type { ContentId } from '../core/content-id.ts'
import { KIB, MIB } from '../core/limits.ts'
import type { Stamp } from '../core/stamp.ts'
import { startOf, textOf } from '../lib/long-text.ts'
import { blocksOf } from '../lib/read-bytes.ts'
import type { Blob as StoredBlob } from '../ports/blob.ts'
import type { StoredItem } from '../ports/latest-item.ts'
import type { DaemonClient } from './open-client.ts'

/** A longer text goes as a file: as JSON it might be longer than any document may be. */
const MAX_INLINE_BYTES: number = 2 * MIB

const PREVIEW_LENGTH = 256

const PIECE_BYTES: number = 256 * KIB

/** Where an item goes. */
export interface PushItemDeps {
  readonly client: Pick<DaemonClient, 'upload' | 'apply'>
  readonly signal: AbortSignal
}

/**
 * Pushes an item with its stamp.
 *
 * @returns The content id of what is current there now: something newer may be.
 * @throws {ClientError}, or the reason of the signal.
 */
export async function pushItem(
  { stored, stamp }: { readonly stored: StoredItem; readonly stamp: Stamp },
  { client, signal }: PushItemDeps,
): Promise<ContentId> {
  const { item, blob } = stored
  const { type, size, contentHash: hash } = item
  const base = { type, size, hash, stampedAt: stamp.at, stampedBy: stamp.member }
  if (blob !== undefined) {
    const { text, dataName, mediaType } = item
    const document = { ...base, text, hasData: true, dataName, mediaType }
    return offer(document, () => sourceOf(blob, mediaType))
  }
  if (size <= MAX_INLINE_BYTES) {
    return client.apply({ ...base, text: item.text, hasData: false, dataName: '' }, { signal })
  }
  const text = startOf(item).slice(0, PREVIEW_LENGTH).toWellFormed()
  const document = { ...base, text, hasData: true, dataName: `clipboard-${hash.slice(0, 16)}.txt` }
  return offer(document, () => new Blob([...textOf(item)], { type: 'text/plain; charset=utf-8' }))

  async function offer(document: OutgoingDocument, open: () => ByteSource): Promise<ContentId> {
    try {
      return await client.apply(document, { signal })
    } catch (error) {
      if (!(error instanceof ClientError && error.problem === 'NOTHING_STAGED')) throw error
    }
    const bytes = open()
    const { dataName } = document
    await client.upload(bytes, { dataName, mediaType: bytes.type, signal })
    return client.apply(document, { signal })
  }
}

/** The bytes of a blob, read as they go out, and never whole in memory. */
function sourceOf(blob: StoredBlob, mediaType: string, start = 0): ByteSource {
  return {
    size: blob.size - start,
    type: mediaType,
    stream: () => readPieces(blob, start),
    slice: (offset) => sourceOf(blob, mediaType, start + offset),
  }
}

async function* readPieces(blob: StoredBlob, start: number): AsyncGenerator<Uint8Array> {
  let sent = start
  for await (const piece of blocksOf(blob, { blockSize: PIECE_BYTES, start })) {
    sent += piece.byteLength
    yield piece
  }
  if (sent < blob.size) throw new Error('The bytes end too soon')
}
