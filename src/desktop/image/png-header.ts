/**
 * What a PNG file says before its pixels (PNG, third edition, 11.2 and 11.3).
 *
 * Checksums are not checked: the pixels have one of their own.
 *
 * @module
 */

import type { ImageSource } from './image-source.ts'
import { checkSize, PictureError, PIXEL_BYTES, type PictureSize } from './picture.ts'
import type { SampleLayout } from './samples.ts'

export interface PngHeader extends PictureSize {
  readonly layout: SampleLayout
  readonly isInterlaced: boolean
  /** The first chunk of them. */
  readonly pixels: Chunk
}

export interface Chunk {
  readonly type: string
  /** Where its bytes begin. */
  readonly at: number
  readonly length: number
}

export const PNG_SIGNATURE: Buffer = Buffer.from('89504e470d0a1a0a', 'hex')

/** Length and type in front of a chunk, and the checksum behind it. */
const CHUNK_HEAD_BYTES = 8
const CHUNK_TAIL_BYTES = 4

/** Before the pixels; programs write about ten. */
const MAX_HEADER_CHUNKS = 1000

const MAX_PALETTE_BYTES = 3 * 256

/** Samples of a pixel, and the depths that go with them, for each colour type. */
const COLOUR_TYPES: Readonly<
  Record<
    number,
    Pick<SampleLayout, 'samples' | 'colour' | 'alpha'> & { readonly depths: readonly number[] }
  >
> = {
  0: { samples: 1, colour: 'grey', alpha: 'none', depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, colour: 'rgb', alpha: 'none', depths: [8, 16] },
  3: { samples: 1, colour: 'palette', alpha: 'none', depths: [1, 2, 4, 8] },
  4: { samples: 2, colour: 'grey', alpha: 'straight', depths: [8, 16] },
  6: { samples: 4, colour: 'rgb', alpha: 'straight', depths: [8, 16] },
}

/** @throws {PictureError} */
export async function readPngHeader(source: ImageSource): Promise<PngHeader> {
  const first = await readChunk(source, PNG_SIGNATURE.length)
  if (first.type !== 'IHDR' || first.length !== 13) throw malformed('its header is missing')
  const ihdr = await source.read(first.at, first.length)
  const size = { width: ihdr.readUInt32BE(0), height: ihdr.readUInt32BE(4) }
  checkSize(size)
  const [bits = 0, colourType = 0, compression, filtering, interlace = 0] = ihdr.subarray(8)
  const type = COLOUR_TYPES[colourType]
  if (type === undefined || !isDepth(bits) || !type.depths.includes(bits)) {
    throw malformed('there is no such kind of pixels')
  }
  if (compression !== 0 || filtering !== 0 || interlace > 1) {
    throw new PictureError('UNSUPPORTED', 'its pixels are packed in an unknown way')
  }

  let colours: Buffer = Buffer.alloc(0)
  let transparency: Buffer | undefined
  let chunk = first
  for (let count = 0; count < MAX_HEADER_CHUNKS; count += 1) {
    chunk = await readChunk(source, endOf(chunk))
    if (chunk.type === 'IDAT') {
      const { samples, colour, alpha } = type
      const layout = { bits, samples, colour, alpha, ...extras(type.colour, colours, transparency) }
      return { ...size, layout, isInterlaced: interlace === 1, pixels: chunk }
    }
    if (chunk.type === 'IEND') break
    if (chunk.type === 'PLTE' || chunk.type === 'tRNS') {
      if (chunk.length > MAX_PALETTE_BYTES) throw malformed('it has too many colours')
      const bytes = await source.read(chunk.at, chunk.length)
      if (chunk.type === 'PLTE') colours = bytes
      else transparency = bytes
    }
  }
  throw malformed('it has no pixels')
}

export async function readChunk(source: ImageSource, at: number): Promise<Chunk> {
  const head = await source.read(at, CHUNK_HEAD_BYTES)
  return {
    length: head.readUInt32BE(0),
    type: head.toString('latin1', 4),
    at: at + CHUNK_HEAD_BYTES,
  }
}

/** Where the next one begins. */
export function endOf({ at, length }: Chunk): number {
  return at + length + CHUNK_TAIL_BYTES
}

function extras(
  colour: SampleLayout['colour'],
  colours: Buffer,
  transparency: Buffer | undefined,
): Pick<SampleLayout, 'palette' | 'transparent'> {
  if (colour === 'palette') return { palette: paletteOf(colours, transparency) }
  if (transparency === undefined) return {}
  const samples = colour === 'grey' ? 1 : 3
  if (transparency.length < 2 * samples) return {}
  const transparent = Array.from({ length: samples }, (_, n) => transparency.readUInt16BE(2 * n))
  return { transparent }
}

function paletteOf(colours: Buffer, transparency: Buffer | undefined): Uint8Array {
  const count = Math.floor(colours.length / 3)
  const palette = new Uint8Array(PIXEL_BYTES * count)
  for (let n = 0; n < count; n += 1) {
    palette.set(colours.subarray(3 * n, 3 * n + 3), PIXEL_BYTES * n)
    palette[PIXEL_BYTES * n + 3] = transparency?.[n] ?? 255
  }
  return palette
}

function isDepth(bits: number): bits is SampleLayout['bits'] {
  return [1, 2, 4, 8, 16].includes(bits)
}

function malformed(message: string): PictureError {
  return new PictureError('MALFORMED', message)
}
