import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  formatBooleanField,
  parseBooleanField,
  parseBytesMember,
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
    // Quadratic work would take minutes.
    const blank = ' '.repeat(500_000)
    assert.equal(parseBooleanField(`?1;a=${blank},`), undefined)
    assert.equal(parseCountField(`1;a=${blank},`), undefined)
    assert.equal(parseCountField(`${blank}1;a=b${blank}`), 1)
  })
})

describe('a dictionary of bytes', () => {
  const rows: readonly (readonly [string | undefined, string | undefined])[] = [
    ['a=:aGk=:', 'hi'],
    [' a=:aGk=: ', 'hi'],
    ['b=:eW8=:,a=:aGk=:', 'hi'],
    ['b=:eW8=: \t,\t a=:aGk=:;q=1;b', 'hi'],
    ['a=:eW8=:, a=:aGk=:', 'hi'],
    ['a=::', ''],
    ['a=:aGk:', 'hi'],
    ['b=:aGk=:', undefined],
    ['A=:aGk=:', undefined],
    ['a=aGk=', undefined],
    ['a=:aGk=', undefined],
    ['a=:aG k=:', undefined],
    ['a=:aGk=:, b=1', undefined],
    ['a=:aGk=:,', undefined],
    ['a', undefined],
    ['', undefined],
    [undefined, undefined],
    [`a=:aGk=:${' '.repeat(3000)}`, undefined],
  ]
  for (const [field, text] of rows) {
    it(`${JSON.stringify(field)?.slice(0, 40)} has ${text ?? 'nothing'}`, () => {
      const bytes = parseBytesMember(field, 'a')
      assert.equal(bytes && Buffer.from(bytes).toString(), text)
    })
  }

  it('is read as it was written, whatever stands beside it', () => {
    const key = fc.stringMatching(/^[a-z*][a-z0-9_.*-]{0,20}$/)
    const members = fc.uniqueArray(fc.tuple(key, fc.uint8Array({ maxLength: 64 })), {
      ...{ minLength: 1, maxLength: 10 },
      selector: ([name]) => name,
    })
    fc.assert(
      fc.property(members, (all) => {
        const field = all
          .map(([name, bytes]) => `${name}=:${Buffer.from(bytes).toString('base64')}:`)
          .join(', ')
        for (const [name, bytes] of all) {
          assert.deepEqual(new Uint8Array(parseBytesMember(field, name) ?? []), bytes)
        }
        assert.equal(parseBytesMember(`${field}, ?`, all[0]?.[0] ?? ''), undefined)
      }),
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => void parseBytesMember(text, 'a')),
    )
  })
})
