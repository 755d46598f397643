/**
 * The fields of TIFF files that say where the pixels are and what they mean.
 *
 * @module
 */

export const TAG = {
  width: 256,
  height: 257,
  bits: 258,
  compression: 259,
  photometric: 262,
  stripOffsets: 273,
  orientation: 274,
  samples: 277,
  rowsInStrip: 278,
  stripLengths: 279,
  planar: 284,
  predictor: 317,
  palette: 320,
  tileWidth: 322,
  extraSamples: 338,
  sampleFormat: 339,
} as const

export const TAGS: ReadonlySet<number> = new Set(Object.values(TAG))
