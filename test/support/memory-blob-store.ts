/** Bytes in memory instead of on disk, for tests of everything above the storage. @module */

import { DomainError } from '../../src/core/domain-error.ts'
import { bytesInMemory } from '../../src/desktop/offered-formats.ts'
import { digestsOf } from '../../src/hashing/content-id.ts'
import type { BlobStore, BytesToReceive, HashedBlob } from '../../src/ports/blob.ts'
import { streamOf } from './byte-streams.ts'

/** Keeps what it received in memory. */
export class MemoryBlobStore implements Pick<BlobStore, 'receive'> {
  readonly #kept = new Set<HashedBlob>()

  /** How many blobs were received and not discarded: a test sees leaks here. */
  get count(): number {
    return this.#kept.size
  }

  async receive(
    source: AsyncIterable<Uint8Array>,
    { declaredSize, maxBytes }: BytesToReceive,
  ): Promise<HashedBlob> {
    if (declaredSize !== undefined && declaredSize > maxBytes) throw tooLarge()
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of source) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge()
      // A copy: the chunk belongs to the source again when it is asked for the next one.
      chunks.push(Uint8Array.from(chunk))
    }
    if (size < (declaredSize ?? 0)) {
      throw new DomainError('UPLOAD_INCOMPLETE', 'Cannot keep the upload: bytes are missing')
    }
    const bytes = Buffer.concat(chunks)
    const blob: HashedBlob = {
      ...bytesInMemory(bytes),
      digests: await digestsOf(bytes),
      open: async () => {
        if (!this.#kept.has(blob)) throw new DomainError('BLOB_GONE', 'The bytes were discarded')
        return bytesInMemory(bytes).open()
      },
      discard: async () => void this.#kept.delete(blob),
    }
    this.#kept.add(blob)
    return blob
  }
}

function tooLarge(): DomainError {
  return new DomainError('UPLOAD_TOO_LARGE', 'Cannot keep the upload: it is too large')
}

/** Puts bytes into a blob that behaves. */
export function blobOf(bytes: string | Uint8Array): Promise<HashedBlob> {
  const content = Buffer.from(bytes)
  return new MemoryBlobStore().receive(streamOf(content), { maxBytes: content.length })
}
