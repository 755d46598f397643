/**
 * Computes what an item is known by, from bytes that are in memory or from their digests.
 *
 * Files that come as a stream are hashed by `stream-hasher.ts`.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import {
  FILE_TAG,
  nameHashOf as nameHashWith,
  SNAPSHOT_TAG,
  type ContentId,
} from '../core/content-id.ts'
import type { Digests } from '../core/digests.ts'
import type { ItemType } from '../core/item-type.ts'
import { createBlake3 } from './blake3.ts'

/** The content id of an item of this type whose bytes have this BLAKE3 (lower-case hex). */
export async function contentIdOf(type: ItemType, blake3OfBytes: string): Promise<ContentId> {
  const hasher = await createBlake3()
  const hash = (tag: string, digest: Uint8Array): Buffer =>
    Buffer.from(hasher.init().update(tag).update(digest).digest('binary'))
  const bytes = Buffer.from(blake3OfBytes, 'hex')
  const isFile = type === 'File' || type === 'Group'
  return `blake3v1:${hash(SNAPSHOT_TAG, isFile ? hash(FILE_TAG, bytes) : bytes).toString('hex')}`
}

/** The name-bound hash of the reference protocol, in lower-case hex. */
export function nameHashOf(dataName: string, sha256: string): string {
  return nameHashWith(dataName, sha256, (text) => createHash('sha256').update(text).digest('hex'))
}

/** Both digests of `bytes`, computed on this thread: for texts and other small things. */
export async function digestsOf(bytes: Uint8Array): Promise<Digests> {
  const blake3 = await createBlake3()
  return {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    blake3: blake3.init().update(bytes).digest('hex'),
  }
}
