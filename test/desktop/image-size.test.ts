import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { bytesInMemory } from '../../src/desktop/offered-formats.ts'
import { readImageSize } from '../../src/desktop/image-size.ts'
import fc, { forAllAsync } from '../support/property.ts'

const FOLDER = new URL('../../fixtures/images/', import.meta.url)
const SIZE = { width: 37, height: 29 }

const names = (await readdir(FOLDER)).filter((name) => /\.(png|bmp|tif|jpg|gif|webp)$/.test(name))
const samples = await Promise.all(names.map((name) => readFile(new URL(name, FOLDER))))

const SOI = Buffer.from([0xff, 0xd8])

/** Markers that may stand in front of a frame, and those of frames. */
const KNOWN: readonly number[] = [
  ...Array.from({ length: 16 }, (_, index) => 0xc0 + index).filter((name) => name !== 0xc8),
  ...Array.from({ length: 8 }, (_, index) => 0xd0 + index),
  ...Array.from({ length: 16 }, (_, index) => 0xe0 + index),
  ...[0x01, 0xdb, 0xdd, 0xfe],
]

function segmentOf(marker: number, body: Uint8Array | readonly number[]): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(2 + body.length, 2)
  return Buffer.concat([head, Uint8Array.from(body)])
}

function frameOf(width: number, height: number): Buffer {
  const body = Buffer.from([8, 0, 0, 0, 0, 1, 1, 0x11, 0])
  body.writeUInt16BE(height, 1)
  body.writeUInt16BE(width, 3)
  return segmentOf(0xc0, body)
}

const sizeOf = (bytes: Uint8Array) => readImageSize(bytesInMemory(bytes))

describe('readImageSize()', () => {
  for (const [index, name] of names.entries()) {
    it(`reads the size of a picture that ImageMagick wrote: ${name}`, async () => {
      const bytes = samples[index] ?? Buffer.alloc(0)
      assert.deepEqual(await sizeOf(bytes), SIZE)
    })
  }

  it('reads the size of a HEIC, of each kind of WebP, and of a BMP that begins with its top row', async () => {
    const ispe = (width: number, height: number): Buffer => {
      const box = Buffer.alloc(20)
      box.writeUInt32BE(20)
      box.write('ispe', 4, 'latin1')
      box.writeUInt32BE(width, 12)
      box.writeUInt32BE(height, 16)
      return box
    }
    const start = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1')
    // The sizes of a tile, of the picture, and of its thumbnail.
    assert.deepEqual(
      await sizeOf(Buffer.concat([start, ispe(16, 16), ispe(37, 29), ispe(9, 7)])),
      SIZE,
    )
    const extended = Buffer.from('RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x24\0\0\x1c\0\0', 'latin1')
    assert.deepEqual(await sizeOf(extended), SIZE)
    const lossless = Buffer.from('RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f', 'latin1')
    const bits = Buffer.alloc(4)
    bits.writeUInt32LE((37 - 1) | ((29 - 1) << 14))
    assert.deepEqual(await sizeOf(Buffer.concat([lossless, bits])), SIZE)
    const bmp = await readFile(new URL('rgb.bmp', FOLDER))
    bmp.writeInt32LE(-29, 22)
    assert.deepEqual(await sizeOf(bmp), SIZE)
  })

  it('reads the size of a JPEG behind megabytes of metadata', async () => {
    const jpeg = samples[names.indexOf('rgb.jpg')] ?? Buffer.alloc(0)
    const segment = Buffer.alloc(2 + 65_535)
    segment.writeUInt16BE(0xffe1)
    segment.writeUInt16BE(65_535, 2)
    const metadata = Array.from({ length: 40 }, () => segment)
    const bytes = Buffer.concat([jpeg.subarray(0, 2), ...metadata, jpeg.subarray(2)])
    assert.deepEqual(await sizeOf(bytes), SIZE)
  })

  it('reads the frame that decoders read, whatever stands in front of it', async () => {
    const between = (first: number, last: number) => fc.integer({ min: first, max: last })
    const marker = fc.oneof(between(0xe0, 0xef), fc.constantFrom(0xc4, 0xcc, 0xdb, 0xdd, 0xfe))
    const body = fc.oneof(fc.uint8Array({ maxLength: 99 }), fc.constant(frameOf(9, 7)))
    const segment = fc.tuple(marker, body).map(([name, bytes]) => segmentOf(name, bytes))
    const alone = fc.oneof(fc.constant(0x01), between(0xd0, 0xd7)).map((name) => [0xff, name])
    const parts = fc.array(fc.oneof(segment, alone, fc.constant([0xff])), { maxLength: 20 })
    const side = between(1, 0xffff)
    await forAllAsync(parts, side, side, async (front, width, height) => {
      const bytes = Buffer.concat([SOI, ...front.map(Buffer.from), frameOf(width, height)])
      assert.deepEqual(await sizeOf(bytes), { width, height })
    })
    const foreign = fc.integer({ min: 0, max: 0xfe }).filter((name) => !KNOWN.includes(name))
    await forAllAsync(parts, foreign, async (front, name) => {
      const bytes = [SOI, ...front.map(Buffer.from), segmentOf(name, []), frameOf(9, 7)]
      assert.equal(await sizeOf(Buffer.concat(bytes)), undefined, `marker ${name}`)
    })
    const short = Buffer.from([0xff, 0xe0, 0, 1])
    assert.equal(await sizeOf(Buffer.concat([SOI, short, frameOf(9, 7)])), undefined)
  })

  it('knows no size of what is cut off in front of it, empty or no image', async () => {
    const png = samples[names.indexOf('rgb.png')] ?? Buffer.alloc(0)
    const tiff = samples[names.indexOf('rgb-none.tif')] ?? Buffer.alloc(0)
    const bad = [png.subarray(0, 20), tiff.subarray(0, 100), Buffer.alloc(0), Buffer.from('text')]
    for (const bytes of bad) assert.equal(await sizeOf(bytes), undefined)
  })

  it('finds a size or none in any bytes', async () => {
    const begins = ['89504e470d0a1a0a', '424d', '49492a00', '4d4d002a', 'ffd8', '474946383961']
    const cut = fc.tuple(fc.constantFrom(...samples), fc.nat()).map(([good, length]) => {
      return good.subarray(0, length % good.length)
    })
    const like = fc
      .tuple(fc.constantFrom(...begins), fc.uint8Array({ maxLength: 400 }))
      .map(([begin, rest]) => Buffer.concat([Buffer.from(begin, 'hex'), rest]))
    await forAllAsync(fc.oneof(cut, like), async (bytes) => {
      const { width = 1, height = 1 } = (await sizeOf(bytes)) ?? {}
      assert.ok(width > 0 && height > 0)
    })
  })
})
