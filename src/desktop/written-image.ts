/**
 * An image that was put on the clipboard, to be recognised when it comes back: its bytes are the
 * same, or it has the same size in another format, within seconds of the write (decision 018).
 * @module
 */

import { createHash } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import { readWhole } from '../lib/read-bytes.ts'
import type { CopiedContent, OfferedContent } from '../ports/system-clipboard.ts'
import { bytesInMemory } from './offered-formats.ts'
import { readImageSize } from './image-size.ts'

type CopiedImage = CopiedContent & { readonly kind: 'image' }
type OfferedImage = OfferedContent & { readonly kind: 'image' }
type Echo = { readonly size: number; readonly hash: string }

/** Programs take over at once what was written; converting a large image takes a moment. */
const CONVERSION_MS = 5000

/** Images that were recognised are recognised again by their bytes. */
const MAX_ECHOES = 8

/** An image, and the echoes of it that were recognised. */
export class WrittenImage {
  readonly kind = 'image'
  readonly #image: OfferedImage
  readonly #clock: Clock
  /** `undefined` as long as the write is not confirmed. */
  #writtenAt: number | undefined
  #echoes: readonly Echo[] = []

  constructor(image: OfferedImage, clock: Clock) {
    this.#image = image
    this.#clock = clock
  }

  confirm(): void {
    this.#writtenAt = this.#clock.monotonic()
  }

  /** In bytes. */
  get size(): number {
    return this.#image.blob.size
  }

  /** Whether `paths` are the file that the image was pasted as. */
  isSavedAs(paths: readonly string[]): boolean {
    const path = this.#image.file?.path
    return path !== undefined && paths.length === 1 && paths[0]?.normalize() === path.normalize()
  }

  /** @throws What reading the image throws; `signal.reason` when aborted. */
  async isSameImage(copied: CopiedImage, signal: AbortSignal): Promise<boolean> {
    const { bytes } = copied
    const afterMs = this.#writtenAt === undefined ? 0 : this.#clock.monotonic() - this.#writtenAt
    const isEcho = ({ size, hash }: Echo) => size === bytes.length && hash === hashOf(bytes)
    if (this.#echoes.some(isEcho)) return true
    const isSame =
      (bytes.length === this.size && (await this.#hasBytes(bytes))) ||
      (await this.#isConverted(copied, afterMs))
    signal.throwIfAborted()
    if (isSame) {
      const echo = { size: bytes.length, hash: hashOf(bytes) }
      this.#echoes = [...this.#echoes, echo].slice(-MAX_ECHOES)
    }
    return isSame
  }

  /**
   * Whether a copied image probably is the written one in another format. A picture turned by a
   * quarter is equally large: photos say which way is up, and not every program listens.
   */
  async #isConverted({ mediaType, bytes }: CopiedImage, afterMs: number): Promise<boolean> {
    if (afterMs > CONVERSION_MS || mediaType === this.#image.mediaType) return false
    const written = await readImageSize(this.#image.blob)
    const copied = await readImageSize(bytesInMemory(bytes))
    if (written === undefined || copied === undefined) return false
    const isEqual = written.width === copied.width && written.height === copied.height
    return isEqual || (written.width === copied.height && written.height === copied.width)
  }

  /** The bytes of an earlier push may have been given up by now. */
  async #hasBytes(bytes: Uint8Array): Promise<boolean> {
    const { blob } = this.#image
    const sha256 = blob.digests?.sha256 ?? hashOf(await readWhole(blob))
    return hashOf(bytes) === sha256
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
