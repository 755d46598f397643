import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isContentId } from '../../src/core/content-id.ts'
import { isDataName, MAX_DATA_NAME_BYTES, parseItemType, toDataName } from '../../src/core/item.ts'
import fc, { forAll } from '../support/property.ts'

describe('isDataName()', () => {
  const USUAL = 'a|.bashrc|a b.txt|100%.txt|a+b[1].txt|写真.png|🙂|CON|x.|\u00e9|e\u0301'
  const FORBIDDEN = '|.|..|a/b|a\\b|/|a\0|a\nb|\x7f|\x9b|\ud800|a\u2028'

  // Protocol: A data name must not be empty
  it('refuses what is a path, a control or nothing, and lets names through that people use', () => {
    for (const name of USUAL.split('|')) assert.equal(isDataName(name), true, name)
    for (const name of FORBIDDEN.split('|')) {
      assert.equal(isDataName(name), false, JSON.stringify(name))
    }
  })

  it('counts bytes, not characters', () => {
    assert.equal(isDataName('a'.repeat(MAX_DATA_NAME_BYTES)), true)
    assert.equal(isDataName('a'.repeat(MAX_DATA_NAME_BYTES + 1)), false)
    assert.equal(isDataName('🙂'.repeat(64)), false)
    forAll(fc.string({ unit: 'binary', minLength: 60, maxLength: 300 }), (name) => {
      if (isDataName(name)) assert.ok(Buffer.byteLength(name) <= MAX_DATA_NAME_BYTES)
    })
  })
})

describe('toDataName()', () => {
  it('makes a data name of any file name, and keeps those that are one', () => {
    assert.equal(toDataName('a\\b\n.txt'), 'a_b_.txt')
    assert.equal(toDataName('..'), 'clipboard.bin')
    forAll(fc.string({ unit: 'binary', maxLength: 300 }), (fileName) => {
      assert.ok(isDataName(toDataName(fileName)))
      if (isDataName(fileName)) assert.equal(toDataName(fileName), fileName)
    })
  })
})

describe('parseItemType()', () => {
  it('reads any letter case and nothing else', () => {
    assert.equal(parseItemType('iMAGE'), 'Image')
    for (const text of ['', 'images', 'constructor', ' Text'])
      assert.equal(parseItemType(text), undefined)
  })
})

describe('isContentId()', () => {
  it('knows the spelling', () => {
    assert.equal(isContentId(`blake3v1:${'0a'.repeat(32)}`), true)
    const digits = '0A'.repeat(32)
    for (const value of [undefined, 1, 'blake3v1:', `blake3v1:${digits}`, digits]) {
      assert.equal(isContentId(value), false)
    }
  })
})
