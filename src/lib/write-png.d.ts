/** The types of `write-png.js`. @module */

/** Writes a PNG; `level` is that of compression, 1 to 9. */
export function writePng(
  picture: {
    readonly data: Uint8ClampedArray | Uint8Array
    readonly width: number
    readonly height: number
    readonly isBlueFirst?: boolean
  },
  level: number,
): Promise<Uint8Array<ArrayBuffer>>
