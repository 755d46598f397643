import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { classifyMediaType, isImageType, SNIFF_LENGTH } from '../../src/core/media-type.ts'
import fc, { forAll } from '../support/property.ts'

const OCTETS = 'application/octet-stream'
const FORM = 'application/x-www-form-urlencoded'

/** Types that are given to whatever is uploaded. */
const WRONG = ['Application/JSON', 'text/plain; charset=utf-8', 'multipart/form-data; boundary=x']

const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1')

/** `size ftyp major version compatible…`, as ISO base media files begin. */
function ftyp(major: string, ...compatible: readonly string[]): Uint8Array {
  const body = `ftyp${major}\0\0\0\0${compatible.join('')}`
  return latin1(`\0\0\0${String.fromCharCode(body.length + 4)}${body}\0\0\x01\x00meta`)
}

/** Beginnings of real files. */
const HEADS: readonly (readonly [string, Uint8Array])[] = [
  ['image/jpeg', latin1('\xff\xd8\xff\xe0\0\x10JFIF\0')],
  ['image/png', latin1('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')],
  ['image/gif', latin1('GIF87a\x01\0')],
  ['image/gif', latin1('GIF89a\x01\0')],
  ['image/webp', latin1('RIFF\x24\0\0\0WEBPVP8 ')],
  ['image/bmp', latin1('BM\x36\x0c\0\0\0\0\0\0\x36\0\0\0')],
  ['image/tiff', latin1('II*\0\x08\0\0\0')],
  ['image/tiff', latin1('MM\0*\0\0\0\x08')],
  ['image/tiff', latin1('II+\0\x08\0\0\0')],
  ['image/heic', ftyp('heic', 'mif1', 'heic')],
  ['image/heic', ftyp('heix')],
  ['image/heic', ftyp('mif1', 'mif1', 'heic')],
  ['image/heif', ftyp('mif1', 'mif1', 'miaf')],
  ['image/heif', ftyp('msf1')],
  ['image/avif', ftyp('avif', 'mif1')],
  ['image/avif', ftyp('mif1', 'avif')],
]

describe('classifyMediaType()', () => {
  for (const [mediaType, head] of HEADS) {
    it(`finds ${mediaType} behind ${JSON.stringify(Buffer.from(head).toString('latin1', 0, 16))}`, () => {
      for (const declared of [undefined, OCTETS, FORM, '', 'image/*', '*/*', 'junk', ...WRONG]) {
        assert.equal(classifyMediaType(declared, head, 'x'), mediaType, declared)
      }
    })
  }

  // Protocol: The first bytes decide then
  it('believes the bytes before the extension', () => {
    assert.equal(classifyMediaType(undefined, latin1('GIF89a'), 'x.png'), 'image/gif')
  })

  it('believes the extension, in any case, when the bytes say nothing', () => {
    assert.equal(classifyMediaType(undefined, latin1('????'), 'IMG_1.HEIC'), 'image/heic')
    assert.equal(classifyMediaType(undefined, latin1(''), 'a.b.Jpg'), 'image/jpeg')
  })

  it('keeps the usual wrong types where the bytes are no image, whatever the name', () => {
    for (const declared of WRONG) {
      assert.equal(classifyMediaType(declared, latin1('{"a":1}'), 'x.png'), declared)
    }
  })

  it('keeps a declared type that says something, with its parameters', () => {
    const png = latin1('\x89PNG\r\n\x1a\n')
    for (const declared of ['text/html; charset=utf-8', ' Application/PDF ']) {
      assert.equal(classifyMediaType(declared, png, 'x.png'), declared.trim())
    }
  })

  it('calls what nobody knows an octet stream', () => {
    for (const text of ['', 'BM is how this text begins', '%PDF-1.7', 'ftyp']) {
      assert.equal(classifyMediaType(undefined, latin1(text), 'notes'), OCTETS)
    }
    assert.equal(classifyMediaType(undefined, ftyp('isom', 'mp42'), 'x.mp4'), OCTETS)
  })

  it('never lets a header be broken by what was declared', () => {
    const heads = fc.uint8Array({ maxLength: SNIFF_LENGTH })
    forAll(fc.string({ unit: 'binary' }), heads, (declared, head) => {
      assert.match(classifyMediaType(declared, head, 'x'), /^[!-~]+\/[ -~]+$/)
    })
    const blank = fc.string({ unit: fc.constantFrom(' ', '\t', ';', 'x') })
    forAll(blank, (end) => {
      assert.match(classifyMediaType(`a/b${end}`, latin1(''), 'x'), /^[!-~]+\/[ -~]+$/)
    })
    assert.equal(classifyMediaType('a/b \t; x=1', latin1(''), 'x'), 'a/b; x=1')
    for (const declared of ['a/b\r\nX: y', `a/${'b'.repeat(300)}`]) {
      assert.equal(classifyMediaType(declared, latin1(''), 'x'), OCTETS)
    }
  })
})

describe('isImageType()', () => {
  it('goes by the top-level type alone', () => {
    assert.equal(isImageType('IMAGE/svg+xml'), true)
    assert.equal(isImageType('text/image'), false)
  })
})
