/** Computes what an item is known by, from bytes in memory or from digests. @module */

import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type { IHasher } from 'hash-wasm'
import { FILE_TAG, nameHashOf as nameHashWith, SNAPSHOT_TAG } from '../core/content-id.ts'
import type { ContentId, Digests } from '../core/content-id.ts'
import type { ItemType } from '../core/item-type.ts'
import { packageFile } from '../lib/program-files.ts'

// The package is found now and loaded when the first hash is wanted: Node remembers a search that
// failed because no descriptor was free.
const PACKAGE = /* @__PURE__ */ packageFile('hash-wasm/dist/blake3.umd.min.js', 'blake3.cjs')

/** The one hasher of this thread: an instance of WebAssembly takes 10 GiB of addresses. */
let kept: Promise<IHasher> | undefined

/** The BLAKE3 of these bytes, one piece after the other, in lower-case hex. */
export async function blake3Of(...pieces: readonly Uint8Array[]): Promise<string> {
  const hasher = await keptHasher()
  // From here to the end nobody else has it: nothing is awaited.
  hasher.init()
  for (const piece of pieces) hasher.update(piece)
  return hasher.digest('hex')
}

async function keptHasher(): Promise<IHasher> {
  kept ??= createHasher()
  const found = kept
  try {
    return await found
  } catch (error) {
    // There was no descriptor or no memory for it just then: the next one tries again.
    if (kept === found) kept = undefined
    throw error
  }
}

async function createHasher(): Promise<IHasher> {
  // `require` costs a third of `import` here, in time and in memory.
  const { createBLAKE3 }: typeof import('hash-wasm') = createRequire(PACKAGE)(PACKAGE)
  return createBLAKE3()
}

/** The content id of an item of this type whose bytes have this BLAKE3 (lower-case hex). */
export async function contentIdOf(type: ItemType, blake3OfBytes: string): Promise<ContentId> {
  const isFile = type === 'File' || type === 'Group'
  const digest = isFile ? await hashTagged(FILE_TAG, blake3OfBytes) : blake3OfBytes
  return `blake3v1:${await hashTagged(SNAPSHOT_TAG, digest)}`
}

/** @param digest In hex, as is the result. */
function hashTagged(tag: string, digest: string): Promise<string> {
  return blake3Of(Buffer.from(tag), Buffer.from(digest, 'hex'))
}

/** The name-bound hash of the reference protocol, in lower-case hex. */
export function nameHashOf(dataName: string, sha256: string): string {
  return nameHashWith(dataName, sha256, (text) => createHash('sha256').update(text).digest('hex'))
}

/** Both digests of `bytes`, computed on this thread: for texts and other small things. */
export async function digestsOf(bytes: Uint8Array): Promise<Digests> {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { sha256, blake3: await blake3Of(bytes) }
}
