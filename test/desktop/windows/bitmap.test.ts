import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PNG } from 'pngjs'
import {
  decodeBitmap,
  encodeBitmap,
  encodeBitmapV5,
  type Picture,
} from '../../../src/desktop/windows/bitmap.ts'
import { writePng } from '../../../src/lib/write-png.js'
import fc, { forAll, forAllAsync } from '../../support/property.ts'

/** Pictures of any pixels, some of them opaque everywhere. */
const pictures = fc
  .record({
    width: fc.integer({ min: 1, max: 9 }),
    height: fc.integer({ min: 1, max: 9 }),
    isOpaque: fc.boolean(),
    bytes: fc.uint8Array({ minLength: 324, maxLength: 324 }),
  })
  .map(({ width, height, isOpaque, bytes }): Picture => {
    const pixels = bytes.slice(0, 4 * width * height)
    // One that could not be seen at all is taken for one without opacity.
    pixels[3] = 0xff
    return { width, height, pixels: isOpaque ? opaque(pixels) : pixels }
  })

describe('a bitmap of the Windows clipboard', () => {
  it('comes back as it was written, with its opacity or on white', () =>
    forAll(pictures, (picture) => {
      assertSame(decodeBitmap(encodeBitmapV5(picture)), picture)
      const flat = decodeBitmap(encodeBitmap(picture))
      assertSame(flat, { ...picture, pixels: onWhite(picture.pixels) })
    }))

  it('becomes a PNG of the same pixels', () =>
    forAllAsync(pictures, async (picture) => {
      const written = await writePng({ ...picture, data: picture.pixels, isBlueFirst: true }, 3)
      const { width, height, data } = PNG.sync.read(Buffer.from(written))
      const pixels = new Uint8Array(data)
      for (let at = 0; at < pixels.length; at += 4) pixels.subarray(at, at + 3).reverse()
      assertSame({ width, height, pixels }, picture)
    }))

  /** Two pixels beside each other: a red one, and a blue one. */
  const RED_AND_BLUE = '0000ffff' + 'ff0000ff'
  const rows = [
    ['1 bit', dib(1, '40000000', '0000ff00' + 'ff000000'), RED_AND_BLUE],
    ['4 bits', dib(4, '01000000', '0000ff00' + 'ff000000' + '00'.repeat(56)), RED_AND_BLUE],
    ['8 bits, of 2 colours', dib(8, '00010000', '0000ff00' + 'ff000000', 2), RED_AND_BLUE],
    ['16 bits', dib(16, '007c1f00'), RED_AND_BLUE],
    ['16 bits with masks', dib(16, '00f81f00', '00f80000e00700001f000000', 0, 3), RED_AND_BLUE],
    ['24 bits', dib(24, '0000ff' + 'ff0000' + '0000'), RED_AND_BLUE],
    ['32 bits', dib(32, '0000ff00' + 'ff000000'), RED_AND_BLUE],
    [
      '32 bits with masks the other way round',
      dib(32, 'ff000000' + '0000ff00', 'ff00000000ff00000000ff00', 0, 3),
      RED_AND_BLUE,
    ],
  ] as const
  for (const [name, bytes, expected] of rows) {
    it(`is understood with ${name}`, () => {
      const pixels = Buffer.from(expected, 'hex')
      assertSame(decodeBitmap(bytes), { width: 2, height: 1, pixels })
    })
  }

  it('may begin at its top', () => {
    const bytes = Buffer.from(dib(32, '0000ff00' + 'ff000000'))
    bytes.writeInt32LE(1, 4)
    bytes.writeInt32LE(-2, 8)
    assertSame(decodeBitmap(bytes), {
      width: 1,
      height: 2,
      pixels: Buffer.from(RED_AND_BLUE, 'hex'),
    })
  })

  it('is no picture when it is damaged, packed or too large, and nothing is thrown', () => {
    const whole = dib(32, '0000ff00' + 'ff000000')
    assert.equal(decodeBitmap(whole.subarray(0, -1)), undefined)
    assert.equal(decodeBitmap(dib(8, '00010000', '', 0, 1)), undefined)
    const large = Buffer.from(whole)
    large.writeInt32LE(2 ** 20, 4)
    large.writeInt32LE(2 ** 20, 8)
    assert.equal(decodeBitmap(large), undefined)
    forAll(
      fc.constantFrom(...rows.map(([, bytes]) => bytes)),
      fc.array(fc.tuple(fc.nat(55), fc.nat(255)), { maxLength: 4 }),
      (bytes, changes) => {
        const damaged = Buffer.from(bytes)
        for (const [at, value] of changes) damaged[at] = value
        const picture = decodeBitmap(damaged)
        if (picture === undefined) return
        assert.equal(picture.pixels.length, 4 * picture.width * picture.height)
      },
    )
  })
})

/** A bitmap of two pixels in one row. */
function dib(bits: number, row: string, table = '', colours = 0, compression = 0): Buffer {
  const header = Buffer.alloc(40)
  header.writeUInt32LE(40, 0)
  header.writeInt32LE(2, 4)
  header.writeInt32LE(1, 8)
  header.writeUInt16LE(1, 12)
  header.writeUInt16LE(bits, 14)
  header.writeUInt32LE(compression, 16)
  header.writeUInt32LE(colours, 32)
  return Buffer.concat([header, Buffer.from(table + row, 'hex')])
}

function opaque(pixels: Uint8Array): Uint8Array {
  return pixels.map((value, at) => (at % 4 === 3 ? 0xff : value))
}

function onWhite(pixels: Uint8Array): Uint8Array {
  return opaque(pixels).map((value, at) => {
    if (at % 4 === 3) return 0xff
    const alpha = pixels[at - (at % 4) + 3] ?? 0
    return Math.round((value * alpha + 0xff * (0xff - alpha)) / 0xff)
  })
}

function assertSame(found: Picture | undefined, expected: Picture): void {
  assert.ok(found !== undefined)
  assert.deepEqual([found.width, found.height], [expected.width, expected.height])
  assert.deepEqual([...found.pixels], [...expected.pixels])
}
