import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeLatin1, encodeLatin1, isLatin1 } from '../../src/desktop/latin-1.ts'
import fc from '../support/property.ts'

describe('Latin-1', () => {
  it('has one byte for each character up to U+00FF, the C1 controls included', () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    const text = decodeLatin1(all)
    assert.equal(text.length, 256)
    assert.ok(isLatin1(text))
    // Windows-1252 has the euro here.
    assert.equal(text[0x80], '\u0080')
    assert.deepEqual(new Uint8Array(encodeLatin1(text)), all)
  })

  it('is read from the middle of a buffer', () => {
    assert.equal(decodeLatin1(new TextEncoder().encode('abc').subarray(1, 2)), 'b')
  })

  it('round-trips exactly the texts that it claims to have', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.equal(isLatin1(text), decodeLatin1(encodeLatin1(text)) === text)
      }),
    )
  })
})
