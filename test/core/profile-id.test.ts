import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ITEM_TYPES, parseProfileId } from '../../src/core/item.ts'
import fc, { forAll } from '../support/property.ts'

describe('a profile id', () => {
  // Protocol: A *profile id* is
  it('is a type in any letter case and a hash, split at the first dash', () => {
    assert.deepEqual(parseProfileId('Image-AB12'), { type: 'Image', hash: 'AB12' })
    assert.deepEqual(parseProfileId('Text-a-b'), { type: 'Text', hash: 'a-b' })
    assert.deepEqual(parseProfileId('gROUP--'), { type: 'Group', hash: '-' })
  })

  it('is read as it was written, whatever the hash', () => {
    const types = fc.constantFrom(...ITEM_TYPES)
    forAll(types, fc.string({ minLength: 1 }), (type, hash) => {
      assert.deepEqual(parseProfileId(`${type}-${hash}`), { type, hash })
    })
  })

  it('is nothing less', () => {
    for (const text of ['', '-', 'Text', 'Text-', '-ab', 'Nothing-ab', ' Text-ab', '1-ab', 'ab']) {
      assert.equal(parseProfileId(text), undefined, text)
    }
  })

  it('is never found where there is none, and never throws', () =>
    forAll(fc.string(), (text) => {
      const id = parseProfileId(text)
      if (id !== undefined) {
        assert.equal(`${id.type}-${id.hash}`.toLowerCase(), text.toLowerCase())
      }
    }))
})
