/**
 * Staged uploads in memory instead of on disk, for tests of everything above the storage. Nothing
 * expires, there is no quota, and nothing can be resumed.
 * @module
 */

import { DomainError } from '../../src/core/domain-error.ts'
import { MAX_FILE_BYTES } from '../../src/core/limits.ts'
import type { BlobStore } from '../../src/ports/blob.ts'
import type {
  BatchMember,
  PartialUpload,
  ReceivedUpload,
  StagedUpload,
  StagingArea,
  TakenUpload,
  UploadName,
  UploadSource,
} from '../../src/ports/staging-area.ts'
import { defer } from './defer.ts'
import { MemoryBlobStore } from './memory-blob-store.ts'

/** An upload that somebody receives, or has in hand. */
interface InHand {
  readonly deviceId: string
  isDropped: boolean
  readonly ended: Promise<void>
  /** Ends it when `work` has settled. */
  endAfter<T>(work: Promise<T>): Promise<T>
}

export class MemoryStagingArea implements StagingArea {
  readonly #uploads = new Map<string, StagedUpload & { readonly begunAt: number }>()
  readonly #now: () => number
  readonly #blobs: Pick<BlobStore, 'receive'>
  readonly #maxBytes: number
  readonly #inHand = new Set<InHand>()

  constructor(
    blobs: Pick<BlobStore, 'receive'> = new MemoryBlobStore(),
    maxBytes: number = MAX_FILE_BYTES,
    now: () => number = () => 0,
  ) {
    this.#blobs = blobs
    this.#maxBytes = maxBytes
    this.#now = now
  }

  /** How many uploads wait. */
  get count(): number {
    return this.#uploads.size
  }

  async admit(): Promise<void> {
    // There is always room.
  }

  async receive(
    { deviceId, declaredSize }: UploadSource,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<ReceivedUpload> {
    const hand = this.#hold(deviceId)
    const begunAt = this.#now()
    const expected = { declaredSize, maxBytes: this.#maxBytes }
    const blob = await this.#blobs.receive(bytes, expected).catch((error: unknown) => {
      return hand.endAfter(Promise.reject(error))
    })
    const stage = async (name: UploadName): Promise<StagedUpload> => {
      const { dataName, mediaType, member, knownAs } = name
      if (hand.isDropped) await blob.discard()
      if (hand.isDropped) throw shutOut()
      const upload = { deviceId, dataName, mediaType, member, knownAs, blob, begunAt }
      const key = keyOf(deviceId, member ?? dataName)
      const replaced = this.#uploads.get(key)
      this.#uploads.set(key, upload)
      await replaced?.blob.discard()
      return upload
    }
    return {
      blob,
      keep: () => undefined,
      stage: (name) => hand.endAfter(stage(name)),
      release: () => hand.endAfter(Promise.resolve()),
      discard: () => hand.endAfter(blob.discard()),
    }
  }

  begin(): Promise<PartialUpload> {
    return Promise.reject(new Error('What can be resumed is kept on a disk only'))
  }

  find(): undefined {
    return undefined
  }

  async drop(deviceId: string): Promise<void> {
    const inHand = [...this.#inHand].filter((hand) => hand.deviceId === deviceId)
    for (const hand of inHand) hand.isDropped = true
    const uploads = [...this.#uploads].filter(([, upload]) => upload.deviceId === deviceId)
    for (const [key] of uploads) this.#uploads.delete(key)
    for (const [, { blob }] of uploads) await blob.discard()
    await Promise.all(inHand.map(({ ended }) => ended))
  }

  staged(deviceId: string, dataName: string): StagedUpload | undefined {
    return this.#uploads.get(keyOf(deviceId, dataName))
  }

  async bind(deviceId: string, dataName?: string, begunBy: number = Infinity): Promise<void> {
    for (const [key, upload] of this.#uploads) {
      if (upload.deviceId !== deviceId || upload.member !== undefined) continue
      if ((dataName ?? upload.dataName) !== upload.dataName) continue
      if (upload.begunAt > begunBy) continue
      this.#uploads.set(key, { ...upload, knownAs: upload.knownAs ?? '' })
    }
  }

  take(deviceId: string, dataName: string): TakenUpload | undefined {
    return this.#take(deviceId, keyOf(deviceId, dataName))
  }

  takeBatch(
    deviceId: string,
    batch: string,
    numbers: readonly number[],
  ): readonly TakenUpload[] | undefined {
    const keys = numbers.map((number) => keyOf(deviceId, { batch, number }))
    if (!keys.every((key) => this.#uploads.has(key))) return undefined
    const taken = keys.map((key) => this.#take(deviceId, key))
    for (const [key, upload] of this.#uploads) {
      if (upload.deviceId !== deviceId || upload.member?.batch !== batch) continue
      this.#uploads.delete(key)
      void upload.blob.discard()
    }
    return taken.filter((upload) => upload !== undefined)
  }

  #take(deviceId: string, key: string): TakenUpload | undefined {
    const upload = this.#uploads.get(key)
    if (upload === undefined) return undefined
    this.#uploads.delete(key)
    const hand = this.#hold(deviceId)
    const giveBack = async (): Promise<void> => {
      if (hand.isDropped || this.#uploads.has(key)) await upload.blob.discard()
      else this.#uploads.set(key, upload)
    }
    return {
      ...upload,
      release: () => hand.endAfter(Promise.resolve()),
      discard: () => hand.endAfter(upload.blob.discard()),
      giveBack: () => void hand.endAfter(giveBack()),
    }
  }

  #hold(deviceId: string): InHand {
    const { promise: ended, resolve } = defer<void>()
    const hand: InHand = {
      deviceId,
      isDropped: false,
      ended,
      endAfter: (work) => {
        return work.finally(() => {
          this.#inHand.delete(hand)
          resolve()
        })
      },
    }
    this.#inHand.add(hand)
    return hand
  }
}

function shutOut(): DomainError {
  return new DomainError('CREDENTIAL_GONE', 'Cannot go on')
}

function keyOf(deviceId: string, place: string | BatchMember): string {
  return JSON.stringify([
    deviceId,
    ...(typeof place === 'string' ? [place] : [place.batch, place.number]),
  ])
}
