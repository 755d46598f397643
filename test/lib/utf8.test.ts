import assert from 'node:assert/strict'
import { it } from 'node:test'
import { decodeUtf8, parseJson } from '../../src/lib/utf8.ts'
import fc, { forAll } from '../support/property.ts'

it('strict UTF-8 decodes what was encoded, a byte order mark included', () => {
  forAll(fc.string({ unit: 'binary' }), (text) => {
    assert.equal(decodeUtf8(new TextEncoder().encode(text)), text)
  })
  assert.equal(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61)), '\ufeffa')
})

it('strict UTF-8 refuses other bytes, and decodes what comes after them', () => {
  assert.throws(() => decodeUtf8(Uint8Array.of(0x61, 0xff)), new TypeError('it is not UTF-8'))
  assert.equal(decodeUtf8(Uint8Array.of(0x61)), 'a')
})

it('strict UTF-8 parses JSON in text and in bytes, and quotes nothing of what it refuses', () => {
  assert.deepEqual(parseJson('{"a":[1]}'), { a: [1] })
  assert.deepEqual(parseJson(Buffer.from('{"a":[1]}')), { a: [1] })
  const told = (error: unknown): boolean =>
    error instanceof TypeError && !String(error.stack).includes('secret')
  assert.throws(() => parseJson('secret'), told)
  assert.throws(() => parseJson(Buffer.from('secret\xff', 'latin1')), told)
})
