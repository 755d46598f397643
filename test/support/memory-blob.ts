/** Bytes in memory instead of on disk, for tests of everything above the storage. @module */

import { buffer } from 'node:stream/consumers'
import { DomainError } from '../../src/core/domain-error.ts'
import { bytesInMemory } from '../../src/desktop/offered-formats.ts'
import { digestsOf } from '../../src/hashing/file-hasher.ts'
import type { BlobStore, HashedBlob } from '../../src/ports/blob.ts'

/** Puts bytes into a blob that behaves. */
export async function blobOf(bytes: string | Uint8Array): Promise<HashedBlob> {
  const content = bytesInMemory(Buffer.from(bytes))
  let isDiscarded = false
  return {
    size: content.size,
    digests: await digestsOf(Buffer.from(bytes)),
    open: async () => {
      if (isDiscarded) throw new DomainError('BLOB_GONE', 'The bytes were discarded')
      return content.open()
    },
    discard: async () => {
      isDiscarded = true
    },
  }
}

/** Keeps what comes in memory, however much that is. */
export const memoryBlobs: Pick<BlobStore, 'receive'> = {
  receive: async (source) => blobOf(await buffer(source)),
}
