/**
 * An image that was put on the clipboard, for recognising it when it comes back in another format.
 *
 * It is the same if its bytes are, or its pixels. Where the pixels of one of the two cannot be
 * decoded (JPEG, WebP, HEIC…), it counts as the same if it is in another format, equally large,
 * and comes within seconds of the write: see decision 018.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import type { Blob } from '../ports/blob.ts'
import type { Clock } from '../lib/clock.ts'
import type { CopiedContent, OfferedContent } from '../ports/system-clipboard.ts'
import { bytesInMemory } from './bytes-in-memory.ts'
import { compareImages } from './image/compare-images.ts'

export type CopiedImage = CopiedContent & { readonly kind: 'image' }

/** Programs that take over what was copied do so at once; a large image takes them a moment. */
const ANSWER_MS = 5000

/** Images that were recognised are recognised again by their bytes. */
const MAX_ECHOES = 8

const BLOCK_BYTES: number = 256 * 1024

export class WrittenImage {
  readonly kind = 'image'
  readonly #mediaType: string
  readonly #blob: Blob
  readonly #clock: Clock
  /** `undefined` as long as the write is not confirmed. */
  #writtenAt: number | undefined
  #echoes: readonly { readonly size: number; readonly hash: string }[] = []

  constructor({ mediaType, blob }: OfferedContent & { readonly kind: 'image' }, clock: Clock) {
    this.#mediaType = mediaType
    this.#blob = blob
    this.#clock = clock
  }

  confirm(): void {
    this.#writtenAt = this.#clock.monotonic()
  }

  isSame(): boolean {
    return false
  }

  /** @throws What reading the image throws; `signal.reason` when aborted. */
  async isSameImage({ mediaType, bytes }: CopiedImage, signal: AbortSignal): Promise<boolean> {
    const writtenAt = this.#writtenAt
    const isSoon = writtenAt === undefined || this.#clock.monotonic() - writtenAt <= ANSWER_MS
    const isKnown = this.#echoes.some(
      ({ size, hash }) => size === bytes.length && hash === hashOf(bytes),
    )
    if (isKnown) return true
    const isSame = await this.#isSame({ mediaType, bytes, isSoon }, signal)
    if (isSame) {
      const echo = { size: bytes.length, hash: hashOf(bytes) }
      this.#echoes = [...this.#echoes, echo].slice(-MAX_ECHOES)
    }
    return isSame
  }

  async #isSame(
    copied: Omit<CopiedImage, 'kind'> & { readonly isSoon: boolean },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { mediaType, bytes, isSoon } = copied
    if (bytes.length === this.#blob.size && (await this.#hasBytes(bytes))) return true
    switch (await compareImages(this.#blob, bytesInMemory(bytes), signal)) {
      case 'same':
        return true
      case 'same size':
        return isSoon && mediaType !== this.#mediaType
      default:
        return false
    }
  }

  async #hasBytes(bytes: Uint8Array): Promise<boolean> {
    const opened = await this.#blob.open()
    try {
      const block = new Uint8Array(Math.min(BLOCK_BYTES, bytes.length))
      for (let position = 0; position < bytes.length; ) {
        const count = await opened.read(block, position)
        const expected = bytes.subarray(position, position + count)
        if (count === 0 || Buffer.compare(block.subarray(0, count), expected) !== 0) return false
        position += count
      }
      return true
    } finally {
      await opened.close()
    }
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
