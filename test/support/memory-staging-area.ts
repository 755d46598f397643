/**
 * Staged uploads in memory instead of on disk, for tests of everything above the storage. Nothing
 * expires, and there is no quota.
 *
 * @module
 */

import { DomainError } from '../../src/core/domain-error.ts'
import { MAX_FILE_BYTES } from '../../src/core/limits.ts'
import type { BlobStore } from '../../src/ports/blob.ts'
import type {
  ReceivedUpload,
  StagedUpload,
  StagingArea,
  TakenUpload,
  UploadHeader,
  UploadSource,
} from '../../src/ports/staging-area.ts'
import { MemoryBlobStore } from './memory-blob-store.ts'

export class MemoryStagingArea implements StagingArea {
  readonly #uploads = new Map<string, StagedUpload>()
  readonly #blobs: BlobStore
  readonly #maxBytes: number

  constructor(blobs: BlobStore = new MemoryBlobStore(), maxBytes: number = MAX_FILE_BYTES) {
    this.#blobs = blobs
    this.#maxBytes = maxBytes
  }

  /** How many uploads wait. */
  get count(): number {
    return this.#uploads.size
  }

  async admit({ declaredSize }: UploadSource): Promise<void> {
    if (declaredSize !== undefined && declaredSize > this.#maxBytes) {
      throw new DomainError('UPLOAD_TOO_LARGE', 'Cannot stage the upload: it is too large')
    }
  }

  async receive(
    { deviceId, declaredSize }: UploadSource,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<ReceivedUpload> {
    const blob = await this.#blobs.receive(bytes, { declaredSize, maxBytes: this.#maxBytes })
    return {
      blob,
      stage: async ({ dataName, mediaType }) => {
        const upload: StagedUpload = { deviceId, dataName, mediaType, blob }
        const key = keyOf(deviceId, dataName)
        const replaced = this.#uploads.get(key)
        this.#uploads.set(key, upload)
        await replaced?.blob.discard()
        return upload
      },
      release: () => undefined,
      discard: () => blob.discard(),
    }
  }

  async stage(header: UploadHeader, bytes: AsyncIterable<Uint8Array>): Promise<StagedUpload> {
    const received = await this.receive(header, bytes)
    return received.stage(header)
  }

  take(deviceId: string, dataName: string): TakenUpload | undefined {
    const key = keyOf(deviceId, dataName)
    const upload = this.#uploads.get(key)
    if (upload === undefined) return undefined
    this.#uploads.delete(key)
    return {
      ...upload,
      release: async () => undefined,
      discard: () => upload.blob.discard(),
      giveBack: () => {
        if (this.#uploads.has(key)) void upload.blob.discard()
        else this.#uploads.set(key, upload)
      },
    }
  }
}

function keyOf(deviceId: string, dataName: string): string {
  return JSON.stringify([deviceId, dataName])
}
