/** Which way is up in a photo, by its EXIF. @module */

const JPEG_START = 0xffd8
const APP1 = 0xffe1
const EXIF = 'Exif\0\0'

const ORIENTATION_TAG = 0x112

/** The entries of a directory of TIFF, of which EXIF is a kind. */
const ENTRY_BYTES = 12
const SHORT = 3

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
  const { isLittle, directoryAt } = readTiffStart(tiff)
  const values = readTiffDirectory(tiff.subarray(directoryAt), isLittle)
  const value = values.get(ORIENTATION_TAG) ?? 1
  return value >= 1 && value <= 8 ? value : 1
}

/** The order of the bytes of a TIFF, and where its directory is. @throws {RangeError} */
export function readTiffStart(tiff: Buffer): { isLittle: boolean; directoryAt: number } {
  const isLittle = tiff.toString('latin1', 0, 2) === 'II'
  return { isLittle, directoryAt: isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4) }
}

/** The first value of each entry, by its tag. Ends where the bytes end. @throws {RangeError} */
export function readTiffDirectory(directory: Buffer, isLittle: boolean): Map<number, number> {
  const short = (at: number) => directory[isLittle ? 'readUInt16LE' : 'readUInt16BE'](at)
  const long = (at: number) => directory[isLittle ? 'readUInt32LE' : 'readUInt32BE'](at)
  const values = new Map<number, number>()
  for (let n = 0; n < short(0); n += 1) {
    const at = 2 + n * ENTRY_BYTES
    if (at + ENTRY_BYTES > directory.length) break
    values.set(short(at), short(at + 2) === SHORT ? short(at + 8) : long(at + 8))
  }
  return values
}
