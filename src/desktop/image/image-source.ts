/**
 * Reads an image file here and there.
 *
 * @module
 */

import type { Blob, OpenBlob } from '../../ports/blob.ts'
import { PictureError } from './picture.ts'

export type ImageBytes = Pick<Blob, 'size' | 'open'>

/** How much is read at once. */
const PIECE_BYTES: number = 64 * 1024

export class ImageSource {
  readonly size: number
  readonly #opened: OpenBlob

  static async open(bytes: ImageBytes): Promise<ImageSource> {
    return new ImageSource(bytes.size, await bytes.open())
  }

  private constructor(size: number, opened: OpenBlob) {
    this.size = size
    this.#opened = opened
  }

  /** @throws {PictureError} `TRUNCATED` when the file ends before. */
  async read(position: number, length: number): Promise<Buffer> {
    // What a damaged header asks for is not allocated before it is known to be there.
    if (position + length > this.size) throw truncated()
    const bytes = Buffer.allocUnsafeSlow(length)
    if ((await this.#opened.read(bytes, position)) < length) throw truncated()
    return bytes
  }

  /** As much of it as there is. */
  async readSome(position: number, length: number): Promise<Buffer> {
    return this.read(position, Math.max(0, Math.min(length, this.size - position)))
  }

  /** In pieces of a bounded length. */
  async *pieces(position: number, length: number): AsyncGenerator<Buffer> {
    for (let done = 0; done < length; done += PIECE_BYTES) {
      yield await this.read(position + done, Math.min(PIECE_BYTES, length - done))
    }
  }

  close(): Promise<void> {
    return this.#opened.close()
  }
}

function truncated(): PictureError {
  return new PictureError('TRUNCATED', 'it ends early')
}
