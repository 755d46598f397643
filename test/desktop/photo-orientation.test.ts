import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { readOrientation } from '../../src/desktop/photo-orientation.ts'
import fc, { forAll } from '../support/property.ts'

const PHOTO = readFileSync(new URL('../../fixtures/photos/lying.jpg', import.meta.url))

describe('the orientation of a photo', () => {
  it('is that of its EXIF, in either order of bytes', () => {
    assert.equal(readOrientation(PHOTO), 6)
    const tiff =
      '4d4d002a00000008' + '0001' + '0112' + '0003' + '00000001' + '00030000' + '00000000'
    const segment = Buffer.from('457869660000' + tiff, 'hex')
    const head = Buffer.from('ffd8ffe1' + (segment.length + 2).toString(16).padStart(4, '0'), 'hex')
    assert.equal(readOrientation(Buffer.concat([head, segment])), 3)
  })

  it('is none of a picture without it, or that is no photo', () => {
    for (const name of ['rgb.jpg', 'rgb.png']) {
      const bytes = readFileSync(new URL(`../../fixtures/images/${name}`, import.meta.url))
      assert.equal(readOrientation(bytes), 1)
    }
  })

  it('is read of any bytes without a failure', () => {
    const change = fc.tuple(fc.nat(60), fc.nat(255))
    forAll(fc.nat(PHOTO.length), fc.array(change, { maxLength: 4 }), (length, changes) => {
      const damaged = Buffer.from(PHOTO.subarray(0, length))
      for (const [at, value] of changes) if (at < length) damaged[at] = value
      const orientation = readOrientation(damaged)
      assert.ok(orientation >= 1 && orientation <= 8)
    })
  })
})
