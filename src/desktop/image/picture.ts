/**
 * A picture as its pixels, whatever file format it came in, and the one way in which reading one
 * fails.
 *
 * @module
 */

export interface PictureSize {
  readonly width: number
  readonly height: number
}

/** A picture whose header was read. */
export interface Picture extends PictureSize {
  /**
   * The pixels, row by row from the top: red, green and blue, multiplied by alpha, and alpha, with
   * eight bits each. Colour profiles and gamma are ignored.
   *
   * A part is valid until the next one is asked for, and costs a bounded amount of work.
   *
   * @throws {PictureError} When the file is damaged; what reading it throws.
   */
  pixels(): AsyncGenerator<Uint8Array>
}

/** Bytes of a pixel. */
export const PIXEL_BYTES = 4

/** More pixels are not decoded: no screen and hardly a camera has so many. */
export const MAX_PIXELS: number = 64 * 1024 * 1024

/** What cannot be decoded row by row is held whole, up to so many pixels. */
export const MAX_HELD_PIXELS: number = 16 * 1024 * 1024

/** Enough for everything; a row of it is 256 KiB. */
export const MAX_SIDE = 65_535

export type PictureProblem =
  /** In another format, or in a variant of it that is not known here. */
  'UNSUPPORTED' | 'TOO_LARGE' | 'TRUNCATED' | 'MALFORMED'

/** Why a picture cannot be read. */
export class PictureError extends Error {
  readonly code: PictureProblem
  /** Of the picture, where that is known all the same. */
  readonly size: PictureSize | undefined

  constructor(code: PictureProblem, message: string, size?: PictureSize) {
    super(`Cannot read the picture: ${message}`)
    this.name = 'PictureError'
    this.code = code
    this.size = size
  }
}

/** @throws {PictureError} `MALFORMED` for no pixels, `TOO_LARGE` for too many. */
export function checkSize({ width, height }: PictureSize): void {
  if (width < 1 || height < 1) throw new PictureError('MALFORMED', 'it has no pixels')
  if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS) {
    throw new PictureError('TOO_LARGE', 'it has too many pixels', { width, height })
  }
}
