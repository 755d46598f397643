import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readUrlencoded } from '../../src/http/urlencoded.ts'
import fc, { forAll } from '../support/property.ts'

const NAMES = ['type', 'text', 'dataName']

/** The pairs of these names in a form. */
function read(body: string | Uint8Array): readonly (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = []
  readUrlencoded(Buffer.from(body), {
    longestName: 8,
    wants: (name) => NAMES.includes(name),
    add: (name, value) => pairs.push([name, value]),
  })
  return pairs
}

describe('an urlencoded form', () => {
  it('is pairs, in their order', () => {
    const expected = [
      ['type', 'Text'],
      ['text', 'a b=c'],
      ['type', ''],
    ]
    assert.deepEqual(read('type=Text&text=a+b%3Dc&type'), expected)
    assert.deepEqual(read('&&=x&type=Text&text=a%20b=c&other=1&type=&'), expected)
  })

  it('is empty when there is nothing', () => {
    for (const body of ['', '&', '=', '&=&', 'other=1']) assert.deepEqual(read(body), [])
  })

  it('is UTF-8, escaped or not', () => {
    const expected = [
      ['text', '写 🙂'],
      ['text', '\ufeff'],
    ]
    assert.deepEqual(read('text=%E5%86%99+🙂&%74ext=%ef%bb%bf'), expected)
  })

  it('keeps percent signs that begin no escape', () => {
    assert.deepEqual(read('text=100%25&text=100%&text=%zz%4&text=%4%41'), [
      ['text', '100%'],
      ['text', '100%'],
      ['text', '%zz%4'],
      ['text', '%4A'],
    ])
  })

  it('is refused when a value that is wanted is not UTF-8, and only then', () => {
    for (const body of ['text=%ff', Buffer.from('text=\xff', 'latin1')]) {
      assert.throws(() => read(body), { code: 'BAD_BODY' })
    }
    assert.deepEqual(read(Buffer.from('other=\xff&\xff=1&text=a', 'latin1')), [['text', 'a']])
  })

  it('is passed over where nobody wants it, however long', () => {
    const other = Array.from({ length: 900 }, (_, index) => `field${index}=value`).join('&')
    assert.deepEqual(read(`${other}&type=Text&${'x'.repeat(100_000)}=1`), [['type', 'Text']])
  })

  it('has at most a thousand pairs', () => {
    assert.equal(read('text=%41&'.repeat(1000)).length, 1000)
    for (const pair of ['text=%41&', 'other&', '&']) {
      assert.throws(() => read(`${pair.repeat(1000)}a`), { code: 'BAD_BODY' })
    }
  })

  it('is read as URLSearchParams reads it', () => {
    const name = fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: 'grapheme' }))
    const pairs = fc.array(fc.tuple(name, fc.string({ unit: 'grapheme' })))
    forAll(pairs, (written) => {
      const known = written.filter(([key]) => NAMES.includes(key))
      assert.deepEqual(read(new URLSearchParams(written).toString()), known)
    })
    const pieces = ['type', 'text', '=', '&', '%', '%4', '%41', '+', 'z', '%c3%a9']
    forAll(fc.array(fc.constantFrom(...pieces)), (some) => {
      const known = [...new URLSearchParams(some.join(''))].filter(([key]) => NAMES.includes(key))
      assert.deepEqual(read(some.join('')), known)
    })
  })
})
