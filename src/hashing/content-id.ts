/** Computes what an item is known by, from bytes in memory or from digests. @module */

import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type { IHasher } from 'hash-wasm'
import { FILE_TAG, nameHashOf as nameHashWith, SNAPSHOT_TAG } from '../core/content-id.ts'
import type { ContentId, Digests } from '../core/content-id.ts'
import type { ItemType } from '../core/item-type.ts'

const require = createRequire(import.meta.url)

// The package is found now and loaded when the first hash is wanted: Node remembers a search that
// failed because no descriptor was free.
const PACKAGE = require.resolve('hash-wasm')

/** Creates a fresh, initialised BLAKE3 hasher. Its calls are synchronous. */
export function createBlake3(): Promise<IHasher> {
  // `require` costs a third of `import` here, in time and in memory.
  const { createBLAKE3 }: typeof import('hash-wasm') = require(PACKAGE)
  return createBLAKE3()
}

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
