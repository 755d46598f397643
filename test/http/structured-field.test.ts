import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  formatBooleanField,
  parseBooleanField,
  parseCountField,
} from '../../src/http/structured-field.ts'
import fc from '../support/property.ts'

/** Rows: the field, and what it is as a boolean and as a number. */
const ROWS: readonly (readonly [
  string | readonly string[] | undefined,
  boolean | undefined,
  number | undefined,
])[] = [
  ['?1', true, undefined],
  ['?0', false, undefined],
  [' ?1 ', true, undefined],
  ['?1;a', true, undefined],
  ['?0; a=1;b="x y";*c=?0', false, undefined],
  ['?2', undefined, undefined],
  ['?10', undefined, undefined],
  ['true', undefined, undefined],
  ['?1, ?1', undefined, undefined],
  ['?1;A', undefined, undefined],
  ['?1;', undefined, undefined],
  ['0', undefined, 0],
  ['007', undefined, 7],
  ['5;a=1', undefined, 5],
  ['999999999999999', undefined, 999_999_999_999_999],
  ['1000000000000000', undefined, undefined],
  ['-1', undefined, undefined],
  ['1.0', undefined, undefined],
  ['1e3', undefined, undefined],
  ['"1"', undefined, undefined],
  ['1, 1', undefined, undefined],
  ['', undefined, undefined],
  [undefined, undefined, undefined],
  [['?1', '?1'], undefined, undefined],
]

describe('a structured field', () => {
  for (const [field, flag, count] of ROWS) {
    it(`${JSON.stringify(field)} is ${flag ?? count ?? 'ignored'}`, () => {
      assert.equal(parseBooleanField(field), flag)
      assert.equal(parseCountField(field), count)
    })
  }

  it('is read as it was written', () => {
    for (const value of [true, false]) {
      assert.equal(parseBooleanField(formatBooleanField(value)), value)
    }
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (count) => {
        assert.equal(parseCountField(String(count)), count)
      }),
    )
  })

  it('throws nothing, whatever it is, in linear time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        parseBooleanField(text)
        parseCountField(text)
      }),
    )
    const long = `?1${';a'.repeat(8000)}=`
    assert.equal(parseBooleanField(`${long}\n,`), undefined)
    assert.equal(parseCountField(`1${'; a=b'.repeat(5000)},`), undefined)
  })
})
