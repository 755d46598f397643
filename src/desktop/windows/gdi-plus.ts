/**
 * Pictures in files, as Windows itself reads them: JPEG, PNG, GIF, TIFF and BMP, through GDI+.
 * Photos that say which way is up are turned.
 * @module
 */

import { readImageSize } from '../image-size.ts'
import { bytesInMemory } from '../offered-formats.ts'
import { readOrientation } from '../photo-orientation.ts'
import { MAX_PIXELS, type Picture } from './bitmap.ts'
import { loadGdiPlus, type GdiPlus, type Handle } from './win32.ts'

const OK = 0

/** Turns and mirrors, as `GdipImageRotateFlip` counts them, by the orientation of EXIF. */
const TURNS: readonly number[] = [0, 0, 4, 2, 6, 5, 1, 7, 3]

const READ_ONLY = 1
const PIXELS_32_ARGB = 0x26200a

/** The size of a `BitmapData`, with 64 bits. */
const LOCKED_BYTES = 32

let loaded: GdiPlus | undefined

/**
 * Reads the picture in a file; `undefined` when it is damaged, unknown or too large. GDI+ is asked
 * for its size too, before it decodes a pixel: it may read another one than we do.
 */
export async function decodePicture(path: string, bytes: Buffer): Promise<Picture | undefined> {
  const size = await readImageSize(bytesInMemory(bytes))
  if (size === undefined || size.width * size.height > MAX_PIXELS) return undefined
  loaded ??= loadGdiPlus()
  const gdi = loaded
  const handle = Buffer.alloc(8)
  if (gdi.createBitmapFromFile(path, handle) !== OK) return undefined
  const bitmap = Number(handle.readBigUInt64LE())
  try {
    if (sizeOf(gdi, bitmap) === undefined) return undefined
    const turns = TURNS[readOrientation(bytes)] ?? 0
    if (turns !== 0) gdi.imageRotateFlip(bitmap, turns)
    return copyPixels(gdi, bitmap)
  } finally {
    gdi.disposeImage(bitmap)
  }
}

/** Its size now, which turning changes; `undefined` when it is too large. */
function sizeOf(gdi: GdiPlus, bitmap: Handle): Omit<Picture, 'pixels'> | undefined {
  const sides = [Buffer.alloc(4), Buffer.alloc(4)] as const
  gdi.getImageWidth(bitmap, sides[0])
  gdi.getImageHeight(bitmap, sides[1])
  const [width, height] = [sides[0].readUInt32LE(), sides[1].readUInt32LE()]
  return width === 0 || height === 0 || width * height > MAX_PIXELS ? undefined : { width, height }
}

function copyPixels(gdi: GdiPlus, bitmap: Handle): Picture | undefined {
  const size = sizeOf(gdi, bitmap)
  if (size === undefined) return undefined
  const { width, height } = size
  const locked = Buffer.alloc(LOCKED_BYTES)
  if (gdi.bitmapLockBits(bitmap, null, READ_ONLY, PIXELS_32_ARGB, locked) !== OK) return undefined
  try {
    const stride = locked.readInt32LE(8)
    const first = locked.readBigUInt64LE(16)
    const pixels = Buffer.alloc(4 * width * height)
    for (let y = 0; y < height; y += 1) {
      const row = pixels.subarray(4 * width * y, 4 * width * (y + 1))
      gdi.copyOut(row, first + BigInt(y * stride), row.length)
    }
    return { width, height, pixels }
  } finally {
    gdi.bitmapUnlockBits(bitmap, locked)
  }
}
