/**
 * What the samples of a TIFF file mean (TIFF 6.0, sections 3 to 6, 14 and 18).
 *
 * @module
 */

import { PictureError, PIXEL_BYTES } from './picture.ts'
import type { SampleLayout } from './samples.ts'
import type { TiffDirectory } from './tiff-directory.ts'
import { TAG } from './tiff-tags.ts'

export interface TiffLayout extends SampleLayout {
  readonly isLittleEndian: boolean
  /** Samples are stored as the difference to the pixel on the left. */
  readonly isPredicted: boolean
}

const COLOURS = { 0: 'grey', 1: 'grey', 2: 'rgb', 3: 'palette' } as const
const WHITE_IS_ZERO = 0

/** Any more, and it is no picture for the eye. */
const MAX_SAMPLES = 8

/** Of an extra sample. */
const PREMULTIPLIED_ALPHA = 1

/** @throws {PictureError} `UNSUPPORTED` */
export function readTiffLayout(directory: TiffDirectory): TiffLayout {
  const { isLittleEndian } = directory
  const photometric = directory.value(TAG.photometric, -1)
  const samples = directory.value(TAG.samples, 1)
  const depths = directory.values(TAG.bits)
  const bits = ([1, 2, 4, 8, 16] as const).find((known) => known === (depths[0] ?? 1))
  const predictor = directory.value(TAG.predictor, 1)
  const colour = isKnown(photometric) ? COLOURS[photometric] : undefined
  const colours = colour === 'rgb' ? 3 : 1
  if (
    bits === undefined ||
    colour === undefined ||
    depths.some((depth) => depth !== bits) ||
    samples < colours ||
    samples > MAX_SAMPLES ||
    (directory.value(TAG.planar, 1) !== 1 && samples > 1) ||
    directory.values(TAG.sampleFormat).some((format) => format !== 1) ||
    (predictor !== 1 && predictor !== 2) ||
    (predictor === 2 && bits < 8)
  ) {
    throw new PictureError('UNSUPPORTED', 'there is no such kind of pixels')
  }
  const isPremultiplied = directory.value(TAG.extraSamples, 0) === PREMULTIPLIED_ALPHA
  const layout = {
    bits,
    samples,
    colour,
    alpha: samples === colours ? 'none' : isPremultiplied ? 'premultiplied' : 'straight',
    isLittleEndian,
    isInverted: photometric === WHITE_IS_ZERO,
    isPredicted: predictor === 2,
  } as const
  if (colour !== 'palette') return layout
  return { ...layout, palette: paletteOf(directory.values(TAG.palette)) }
}

/** Restores a row in place. */
export function undoPrediction(
  row: Uint8Array,
  { isPredicted, bits, samples, isLittleEndian }: TiffLayout,
): void {
  if (!isPredicted) return
  if (bits === 8) {
    for (let n = samples; n < row.length; n += 1) row[n] = (row[n] ?? 0) + (row[n - samples] ?? 0)
    return
  }
  const [high, low] = isLittleEndian ? [1, 0] : [0, 1]
  const distance = 2 * samples
  for (let n = distance; n + 1 < row.length; n += 2) {
    const sum = (row[n + low] ?? 0) + (row[n + low - distance] ?? 0)
    row[n + high] = (row[n + high] ?? 0) + (row[n + high - distance] ?? 0) + (sum >> 8)
    row[n + low] = sum
  }
}

/** All red, then all green, then all blue, with 16 bits each. */
function paletteOf(values: readonly number[]): Uint8Array {
  const count = Math.floor(values.length / 3)
  const palette = new Uint8Array(PIXEL_BYTES * count)
  for (let n = 0; n < count; n += 1) {
    const colour = [0, 1, 2].map((channel) => (values[channel * count + n] ?? 0) >> 8)
    palette.set([...colour, 255], PIXEL_BYTES * n)
  }
  return palette
}

function isKnown(photometric: number): photometric is keyof typeof COLOURS {
  return photometric in COLOURS
}
