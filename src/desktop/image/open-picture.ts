/**
 * Finds out what an image file holds.
 *
 * @module
 */

import { openBmp } from './bmp.ts'
import { readImageSize } from './image-size.ts'
import type { ImageSource } from './image-source.ts'
import { PictureError, type Picture, type PictureSize } from './picture.ts'
import { openPng } from './png.ts'
import { PNG_SIGNATURE } from './png-header.ts'
import { openTiff } from './tiff.ts'

const OPENERS: readonly {
  readonly signature: Buffer
  readonly open: (source: ImageSource) => Promise<Picture>
}[] = [
  { signature: PNG_SIGNATURE, open: openPng },
  { signature: Buffer.from('BM'), open: openBmp },
  { signature: Buffer.from('II*\0'), open: openTiff },
  { signature: Buffer.from('MM\0*'), open: openTiff },
]

/**
 * The picture; its size alone when it cannot be decoded; `undefined` when not even that is known.
 *
 * @throws What reading it throws, but no {@link PictureError}.
 */
export async function openPicture(
  source: ImageSource,
): Promise<Picture | (PictureSize & { readonly pixels?: undefined }) | undefined> {
  const head = await source.readSome(0, PNG_SIGNATURE.length)
  const opener = OPENERS.find(({ signature }) =>
    head.subarray(0, signature.length).equals(signature),
  )
  if (opener === undefined) return readImageSize(source)
  try {
    return await opener.open(source)
  } catch (error) {
    if (error instanceof PictureError) return error.size
    throw error
  }
}
