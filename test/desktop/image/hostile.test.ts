import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { deflateSync } from 'node:zlib'
import { bytesInMemory } from '../../../src/desktop/bytes-in-memory.ts'
import { ImageSource } from '../../../src/desktop/image/image-source.ts'
import { openPicture } from '../../../src/desktop/image/open-picture.ts'
import { openPng } from '../../../src/desktop/image/png.ts'
import { PictureError, type PictureProblem } from '../../../src/desktop/image/picture.ts'
import { openTiff } from '../../../src/desktop/image/tiff.ts'
import fc from '../../support/property.ts'
import { pixelsOf, sample } from './support.ts'

const names = (await readdir(new URL('../../../fixtures/images/', import.meta.url))).filter(
  (name) => /\.(png|bmp|tif|jpg|gif|webp)$/.test(name),
)
const samples = await Promise.all(names.map(sample))

const SIGNATURES = ['89504e470d0a1a0a', '424d', '49492a00', '4d4d002a', 'ffd8', '474946383961']

describe('any bytes', () => {
  it('give pixels or a problem with a name, where a good file was damaged', async () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...samples),
        damage,
        fc.nat(),
        async (good, changes, cut) => {
          const bytes = Buffer.from(good)
          // Headers are where it matters.
          for (const [at, value] of changes) bytes[at % (at % 2 === 0 ? 120 : bytes.length)] = value
          await read(bytes)
          await read(bytes.subarray(0, cut % bytes.length))
        },
      ),
    )
  })

  it('give pixels or a problem with a name, where they begin like an image', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...SIGNATURES, ''),
        fc.uint8Array({ maxLength: 400 }),
        async (signature, rest) => read(Buffer.concat([Buffer.from(signature, 'hex'), rest])),
      ),
    )
  })
})

describe('a PNG', () => {
  it('has the same pixels however they are cut into chunks', async () => {
    const good = await sample('rgba.png')
    const wanted = await pixelsOf(good)
    const { before, packed } = split(good)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(packed.length), { maxLength: 40 }), async (cuts) => {
        const sorted = [0, ...cuts.toSorted((a, b) => a - b), packed.length]
        const chunks = sorted
          .slice(1)
          .map((end, n) => chunk('IDAT', packed.subarray(sorted[n], end)))
        const pixels = await pixelsOf(Buffer.concat([before, ...chunks, chunk('IEND', NOTHING)]))
        assert.ok(pixels !== undefined && wanted?.equals(pixels), 'the same pixels')
      }),
    )
  })

  it('that has too many pixels is refused before any is read', async () => {
    for (const [width, height] of [
      [65_536, 1],
      [65_535, 65_535],
      [1, 2 ** 32 - 1],
    ] as const) {
      assert.equal(await problemOf(png({ width, height })), 'TOO_LARGE')
    }
    assert.equal(await problemOf(png({ width: 8000, height: 8000, interlace: 1 })), 'TOO_LARGE')
    assert.equal(await problemOf(png({ width: 0, height: 1 })), 'MALFORMED')
  })

  it('that goes on after its last pixel is read up to there', async () => {
    const huge = deflateSync(Buffer.alloc(64 * 1024 * 1024))
    const bytes = png({ width: 2, height: 2, data: huge })
    let read = 0
    const inMemory = await bytesInMemory(bytes).open()
    const counting = {
      size: bytes.length,
      open: async () => ({
        ...inMemory,
        read: (target: Uint8Array, position: number) => {
          read += target.length
          return inMemory.read(target, position)
        },
      }),
    }
    const picture = await openPng(await ImageSource.open(counting))
    let pixels = 0
    for await (const part of picture.pixels()) pixels += part.length
    assert.equal(pixels, 16)
    // What is on its way then is read, and no more.
    assert.ok(read <= bytes.length, `read ${read} of ${bytes.length} bytes`)
  })

  it('that ends early, or is not what it says, says so', async () => {
    const good = deflateSync(Buffer.alloc(10))
    assert.equal(await problemOf(png({ width: 2, height: 3, data: good })), 'TRUNCATED')
    assert.equal(
      await problemOf(png({ width: 2, height: 2, data: good.subarray(0, 6) })),
      'TRUNCATED',
    )
    assert.equal(
      await problemOf(png({ width: 2, height: 2, data: Buffer.alloc(9, 1) })),
      'MALFORMED',
    )
    const filter = deflateSync(Buffer.alloc(14, 9))
    assert.equal(await problemOf(png({ width: 2, height: 2, data: filter })), 'MALFORMED')
    assert.equal(await problemOf(png({ width: 2, height: 2, bits: 3 })), 'MALFORMED')
    assert.equal(await problemOf(png({ width: 2, height: 2, interlace: 2 })), 'UNSUPPORTED')
  })
})

describe('a TIFF', () => {
  it('whose strips are all the same bytes is no work', async () => {
    const fields = { offsets: Array<number>(1000).fill(0), lengths: Array<number>(1000).fill(5000) }
    assert.equal(
      await problemOf(tiff({ width: 1, height: 1000, ...fields }), openTiff),
      'MALFORMED',
    )
  })

  it('that announces more than there is takes no memory for it', async () => {
    const bytes = tiff({ width: 60_000, height: 1000, offsets: [0], lengths: [10] })
    assert.equal(await problemOf(bytes, openTiff), 'TRUNCATED')
    const many = tiff({ width: 1, height: 1, offsets: [0], lengths: [10] })
    many.writeUInt32LE(60_000, 10 + 4 * 12 + 4)
    assert.equal(await problemOf(many, openTiff), 'TRUNCATED')
  })
})

/** Reads to the end; anything but a named problem fails the test. */
async function read(bytes: Uint8Array): Promise<void> {
  try {
    const picture = await openPicture(await ImageSource.open(bytesInMemory(bytes)))
    if (picture?.pixels === undefined) return
    let length = 0
    for await (const part of picture.pixels()) {
      length += part.length
      // Damaged sizes may be huge, and that is not what this is about.
      if (length > 1_000_000) return
    }
    assert.equal(length, 4 * picture.width * picture.height)
  } catch (error) {
    if (!(error instanceof PictureError)) throw error
  }
}

async function problemOf(bytes: Uint8Array, open = openPng): Promise<PictureProblem | undefined> {
  try {
    const picture = await open(await ImageSource.open(bytesInMemory(bytes)))
    for await (const _ of picture.pixels());
    return undefined
  } catch (error) {
    if (error instanceof PictureError) return error.code
    throw error
  }
}

const NOTHING = Buffer.alloc(0)

/** Its checksum is never looked at. */
function chunk(type: string, data: Uint8Array): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(data.length)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, data, Buffer.alloc(4)])
}

interface PngParts {
  readonly width: number
  readonly height: number
  readonly bits?: number
  readonly interlace?: number
  readonly data?: Uint8Array
}

/** RGB. */
function png({ width, height, bits = 8, interlace = 0, data = NOTHING }: PngParts): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, bits, 2, 0, 0, interlace])
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  const parts = [chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', NOTHING)]
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts])
}

/** What stands before the pixels, and the pixels. */
function split(bytes: Buffer): { readonly before: Buffer; readonly packed: Buffer } {
  const at = bytes.indexOf('IDAT') - 4
  const parts: Buffer[] = []
  for (let next = at; bytes.toString('latin1', next + 4, next + 8) === 'IDAT'; ) {
    const length = bytes.readUInt32BE(next)
    parts.push(bytes.subarray(next + 8, next + 8 + length))
    next += 12 + length
  }
  return { before: bytes.subarray(0, at), packed: Buffer.concat(parts) }
}

interface TiffParts {
  readonly width: number
  readonly height: number
  readonly offsets: readonly number[]
  readonly lengths: readonly number[]
}

/** Grey, eight bits, a row in a strip; the numbers of the strips are behind the directory. */
function tiff({ width, height, offsets, lengths }: TiffParts): Buffer {
  const fields = 7
  const listsAt = 10 + fields * 12
  const bytes = Buffer.alloc(listsAt + 4 * (offsets.length + lengths.length) + 20)
  bytes.write('II*\0', 'latin1')
  bytes.writeUInt32LE(8, 4)
  bytes.writeUInt16LE(fields, 8)
  const one = (values: readonly number[], at: number) =>
    values.length === 1 ? (values[0] ?? 0) : at
  const entries = [
    [256, 1, width],
    [257, 1, height],
    [258, 1, 8],
    [262, 1, 1],
    [273, offsets.length, one(offsets, listsAt)],
    [278, 1, Math.ceil(height / offsets.length)],
    [279, lengths.length, one(lengths, listsAt + 4 * offsets.length)],
  ] as const
  entries.forEach(([tag, count, value], n) => {
    bytes.writeUInt16LE(tag, 10 + 12 * n)
    bytes.writeUInt16LE(4, 12 + 12 * n)
    bytes.writeUInt32LE(count, 14 + 12 * n)
    bytes.writeUInt32LE(value, 18 + 12 * n)
  })
  ;[...offsets, ...lengths].forEach((value, n) => bytes.writeUInt32LE(value, listsAt + 4 * n))
  return bytes
}
