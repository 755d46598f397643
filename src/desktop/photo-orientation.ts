/** Which way is up in a photo, by its EXIF. @module */

const JPEG_START = 0xffd8
const APP1 = 0xffe1
const EXIF = 'Exif\0\0'

/** In a TIFF, of which EXIF is a kind. */
const LITTLE_ENDIAN = 'II'
const ORIENTATION_TAG = 0x112
const ENTRY_BYTES = 12

/** Reads the number of EXIF, 1 to 8; 1 (as it is) when there is none. */
export function readOrientation(jpeg: Buffer): number {
  try {
    if (jpeg.readUInt16BE(0) !== JPEG_START) return 1
    for (let at = 2; (jpeg[at] ?? 0) === 0xff; at += 2 + jpeg.readUInt16BE(at + 2)) {
      const isExif =
        jpeg.readUInt16BE(at) === APP1 && jpeg.toString('latin1', at + 4, at + 10) === EXIF
      if (isExif) return readTag(jpeg.subarray(at + 4 + EXIF.length))
    }
    return 1
  } catch {
    // It ends too soon.
    return 1
  }
}

/** @throws {RangeError} When it ends too soon. */
function readTag(tiff: Buffer): number {
  const isLittle = tiff.toString('latin1', 0, 2) === LITTLE_ENDIAN
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const first = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
  const count = short(first)
  for (let index = 0; index < count; index += 1) {
    const entry = first + 2 + ENTRY_BYTES * index
    const value = short(entry) === ORIENTATION_TAG ? short(entry + 8) : 0
    if (value >= 1 && value <= 8) return value
  }
  return 1
}
