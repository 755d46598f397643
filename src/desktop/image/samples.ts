/**
 * Turns rows of samples, as files hold them, into pixels (see {@link Picture}).
 *
 * @module
 */

import { PIXEL_BYTES } from './picture.ts'

export interface SampleLayout {
  readonly bits: 1 | 2 | 4 | 8 | 16
  /** Samples of a pixel; those that nothing is said about are skipped. */
  readonly samples: number
  readonly colour: 'grey' | 'rgb' | 'palette'
  /** Of the sample after the colours. */
  readonly alpha: 'none' | 'straight' | 'premultiplied'
  /** Of samples with 16 bits. */
  readonly isLittleEndian?: boolean
  /** Grey where 0 is white. */
  readonly isInverted?: boolean
  /** Straight red, green, blue and alpha of each colour; others are transparent. */
  readonly palette?: Uint8Array
  /** The samples of the colour that is transparent. */
  readonly transparent?: readonly number[]
}

/** Writes the pixels of `row` to `pixels`, from `at` on, `step` bytes apart. */
export type ReadRow = (
  row: Uint8Array,
  width: number,
  pixels: Uint8Array,
  at: number,
  step: number,
) => void

export function createRowReader(layout: SampleLayout): ReadRow {
  const { bits, samples, colour, alpha, transparent } = layout
  const colours = colour === 'rgb' ? 3 : 1
  const hasAlpha = alpha !== 'none'
  if (bits === 8 && colour === 'rgb' && transparent === undefined) {
    return rgbReader(samples, alpha)
  }
  const sampleAt = createSampleReader(layout)
  const max = 2 ** bits - 1
  const scale = (value: number): number =>
    bits === 16 ? value >> 8 : bits === 8 ? value : Math.round((value * 255) / max)
  const { palette, isInverted = false } = layout

  return (row, width, pixels, start, step) => {
    for (let x = 0, at = start; x < width; x += 1, at += step) {
      const first = x * samples
      const value = sampleAt(row, first)
      if (colour === 'palette') {
        const entry = PIXEL_BYTES * value
        const known = palette === undefined || entry >= palette.length ? TRANSPARENT : palette
        const from = known === TRANSPARENT ? 0 : entry
        const [r = 0, g = 0, b = 0, a = 0] = known.subarray(from, from + PIXEL_BYTES)
        write(pixels, at, r, g, b, a, true)
        continue
      }
      const second = colours === 3 ? sampleAt(row, first + 1) : value
      const third = colours === 3 ? sampleAt(row, first + 2) : value
      const isHole =
        transparent !== undefined &&
        value === transparent[0] &&
        (colours === 1 || (second === transparent[1] && third === transparent[2]))
      const a = isHole ? 0 : hasAlpha ? scale(sampleAt(row, first + colours)) : 255
      const [r, g, b] = [scale(value), scale(second), scale(third)]
      if (isInverted) write(pixels, at, 255 - r, 255 - g, 255 - b, a, alpha !== 'premultiplied')
      else write(pixels, at, r, g, b, a, alpha !== 'premultiplied')
    }
  }
}

/** Multiplies by alpha where that has not been done. */
export function write(
  pixels: Uint8Array,
  at: number,
  r: number,
  g: number,
  b: number,
  a: number,
  isStraight: boolean,
): void {
  const factor = isStraight ? a : 255
  pixels[at] = factor === 255 ? r : Math.round((r * factor) / 255)
  pixels[at + 1] = factor === 255 ? g : Math.round((g * factor) / 255)
  pixels[at + 2] = factor === 255 ? b : Math.round((b * factor) / 255)
  pixels[at + 3] = a
}

const TRANSPARENT = new Uint8Array(PIXEL_BYTES)

/** What nearly all files hold. */
function rgbReader(samples: number, alpha: SampleLayout['alpha']): ReadRow {
  const isStraight = alpha === 'straight'
  return (row, width, pixels, start, step) => {
    let at = start
    for (let x = 0, from = 0; x < width; x += 1, from += samples, at += step) {
      const a = alpha === 'none' ? 255 : (row[from + 3] ?? 0)
      if (a === 255 || !isStraight) {
        pixels[at] = row[from] ?? 0
        pixels[at + 1] = row[from + 1] ?? 0
        pixels[at + 2] = row[from + 2] ?? 0
        pixels[at + 3] = a
      } else {
        write(pixels, at, row[from] ?? 0, row[from + 1] ?? 0, row[from + 2] ?? 0, a, true)
      }
    }
  }
}

function createSampleReader({ bits, isLittleEndian = false }: SampleLayout) {
  if (bits === 8) return (row: Uint8Array, index: number): number => row[index] ?? 0
  if (bits === 16) {
    const [high, low] = isLittleEndian ? [1, 0] : [0, 1]
    return (row: Uint8Array, index: number): number =>
      ((row[2 * index + high] ?? 0) << 8) | (row[2 * index + low] ?? 0)
  }
  const mask = 2 ** bits - 1
  return (row: Uint8Array, index: number): number => {
    const bit = index * bits
    return ((row[bit >> 3] ?? 0) >> (8 - bits - (bit & 7))) & mask
  }
}
