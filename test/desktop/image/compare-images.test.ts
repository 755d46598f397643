import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { bytesInMemory } from '../../../src/desktop/bytes-in-memory.ts'
import { compareImages, type Comparison } from '../../../src/desktop/image/compare-images.ts'
import { sample } from './support.ts'

const NEVER = new AbortController().signal

async function compare(a: string | Uint8Array, b: string | Uint8Array): Promise<Comparison> {
  const [first, second] = await Promise.all(
    [a, b].map(async (image) =>
      bytesInMemory(typeof image === 'string' ? await sample(image) : image),
    ),
  )
  assert.ok(first !== undefined && second !== undefined, 'both are read')
  return compareImages(first, second, NEVER)
}

const names = (await readdir(new URL('../../../fixtures/images/', import.meta.url))).filter(
  (name) => /^rgba?[-.].*(png|bmp|tif)$/.test(name) && !name.includes('hole'),
)

describe('compareImages()', () => {
  for (const name of names) {
    it(`knows the picture again in another file: ${name}`, async () => {
      const [same, other] = name.startsWith('rgba')
        ? ['rgba.png', 'rgb.png']
        : ['rgb.png', 'rgba.png']
      assert.equal(await compare(name, same), 'same')
      assert.equal(await compare(same, name), 'same')
      assert.equal(await compare(name, other), 'different')
    })
  }

  it('tells pictures apart that differ in one pixel', async () => {
    const bmp = await sample('rgb.bmp')
    for (const at of [54, 1000, bmp.length - 4]) {
      const other = Buffer.from(bmp)
      other[at] = ((bmp[at] ?? 0) + 3) % 256
      assert.equal(await compare('rgb.png', other), 'different', `byte ${at}`)
      other[at] = Math.min(255, (bmp[at] ?? 0) + 1)
      assert.equal(await compare('rgb.png', other), 'same', 'nobody sees that')
    }
  })

  it('compares sizes where pixels cannot be decoded, also of a picture that is turned', async () => {
    assert.equal(await compare('rgb.jpg', 'rgb.png'), 'same size')
    assert.equal(await compare('rgb.webp', 'rgb.jpg'), 'same size')
    const gif = await sample('rgb.gif')
    assert.equal(await compare('rgb.jpg', gif), 'same size')
    gif.writeUInt16LE(29, 6)
    gif.writeUInt16LE(37, 8)
    assert.equal(await compare('rgb.jpg', gif), 'same size')
    gif.writeUInt16LE(30, 6)
    assert.equal(await compare('rgb.jpg', gif), 'different')
  })

  it('reads the size of a HEIC, an AVIF and each kind of WebP', async () => {
    const ispe = (width: number, height: number): Buffer => {
      const box = Buffer.alloc(20)
      box.writeUInt32BE(20)
      box.write('ispe', 4, 'latin1')
      box.writeUInt32BE(width, 12)
      box.writeUInt32BE(height, 16)
      return box
    }
    const start = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1')
    // Of a tile, of the picture, of its thumbnail.
    const heic = Buffer.concat([start, ispe(16, 16), ispe(37, 29), ispe(10, 7)])
    assert.equal(await compare(heic, 'rgb.png'), 'same size')
    assert.equal(await compare(Buffer.concat([start, ispe(38, 29)]), 'rgb.png'), 'different')

    const extended = Buffer.from('RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x24\0\0\x1c\0\0', 'latin1')
    assert.equal(await compare(extended, 'rgb.png'), 'same size')
    const lossless = Buffer.from('RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f', 'latin1')
    const bits = Buffer.alloc(4)
    bits.writeUInt32LE((37 - 1) | ((29 - 1) << 14))
    assert.equal(await compare(Buffer.concat([lossless, bits]), 'rgb.png'), 'same size')
  })

  it('says nothing of what is damaged, empty or no image', async () => {
    const good = await sample('rgb.png')
    for (const bad of [
      good.subarray(0, 1500),
      good.subarray(0, 20),
      Buffer.alloc(0),
      Buffer.from('text'),
    ]) {
      assert.equal(await compare(bad, 'rgb.png'), 'unknown')
    }
  })

  it('ends when it is told to', async () => {
    const image = bytesInMemory(await sample('rgb.png'))
    await assert.rejects(compareImages(image, image, AbortSignal.abort()), { name: 'AbortError' })
  })
})
