import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { validateHeaderValue } from 'node:http'
import { HttpError } from '../../src/http/http-error.ts'
import {
  attachment,
  formatBooleanField,
  parseBooleanField,
  parseBoundary,
  parseBytesMember,
  parseCountField,
} from '../../src/http/field-values.ts'
import fc, { forAll } from '../support/property.ts'

function refuses(contentType: string): void {
  const refusal = { name: 'HttpError', code: 'MULTIPART_BOUNDARY', status: 400 }
  assert.throws(() => parseBoundary(contentType), refusal, JSON.stringify(contentType))
}

describe('the boundary of a form', () => {
  it('may be quoted or not', () => {
    assert.equal(parseBoundary('multipart/form-data; boundary=abc'), 'abc')
    assert.equal(parseBoundary('multipart/form-data; boundary="abc"'), 'abc')
  })

  it('may stand among other parameters, in any letter case and spacing', () => {
    for (const contentType of [
      'multipart/form-data;boundary=abc',
      'Multipart/Form-Data; Boundary=abc',
      ' multipart/form-data ;  charset=utf-8 ; boundary=abc ; x="a;b" ',
      'multipart/form-data; ; boundary=abc;',
      'multipart/form-data;\tboundary = "abc"',
    ]) {
      assert.equal(parseBoundary(contentType), 'abc', contentType)
    }
  })

  it('may have all characters of RFC 2046, without quotes as well', () => {
    const boundary = "'()+_,-./:=?"
    assert.equal(parseBoundary(`multipart/form-data; boundary=${boundary}`), boundary)
    assert.equal(parseBoundary(`multipart/form-data; boundary="${boundary}"`), boundary)
    assert.equal(parseBoundary('multipart/form-data; boundary="a b"'), 'a b')
  })

  it('may be the five stars of many an Android upload', () => {
    assert.equal(parseBoundary('multipart/form-data;boundary=*****'), '*****')
  })

  it('has 1 to 70 characters', () => {
    const longest = 'a'.repeat(70)
    assert.equal(parseBoundary(`multipart/form-data; boundary=${longest}`), longest)
    refuses(`multipart/form-data; boundary=${longest}a`)
    refuses('multipart/form-data; boundary=')
    refuses('multipart/form-data; boundary=""')
    refuses('multipart/form-data; boundary=   ; charset=utf-8')
  })

  it('must be there, once', () => {
    refuses('multipart/form-data')
    refuses('multipart/form-data; charset=utf-8')
    refuses('multipart/form-data; boundary')
    refuses('multipart/form-data; boundary=a; boundary=a')
    refuses('multipart/form-data; boundary=a; Boundary=b')
    refuses('multipart/form-data; boundary*0=a; boundary*1=b')
    refuses('')
  })

  it('must not end in a blank, or have anything that could end a line or a quote', () => {
    refuses('multipart/form-data; boundary="abc "')
    for (const part of ['\r', '\n', '\0', '\t', '\x7f', '\xe9', '\\"', '\\', '<', '@', '[', '{']) {
      refuses(`multipart/form-data; boundary="a${part}b"`)
    }
  })

  it('must be announced in a header that can be read', () => {
    refuses('multipart/form-data; boundary="abc')
    refuses('multipart/form-data; boundary="abc"def')
    refuses('multipart/form-data boundary=abc')
    refuses('multipart/form-data, boundary=abc')
  })

  it('belongs to a form', () => {
    refuses('multipart/mixed; boundary=abc')
    refuses('multipart/form-data-like; boundary=abc')
    refuses('application/x-www-form-urlencoded; boundary=abc')
  })

  it('is what any sound header says, and nothing else comes of any other', () => {
    const alphabet = fc.constantFrom(...'abc"\\;= =*\t\r\nboundary')
    const text = fc.string({ unit: alphabet, maxLength: 60 })
    forAll(text, (rest) => {
      try {
        const boundary = parseBoundary(`multipart/form-data; boundary=${rest}`)
        assert.match(boundary, /^[ -~]{0,69}[!-~]$/)
      } catch (error) {
        assert.ok(error instanceof HttpError, `threw ${String(error)}`)
        assert.equal(error.code, 'MULTIPART_BOUNDARY')
      }
    })
  })
})

describe('Content-Disposition', () => {
  it('names plain names plainly', () => {
    assert.equal(attachment('report 1.pdf'), 'attachment; filename="report 1.pdf"')
  })

  it('names all others twice: as well as ASCII can, and whole', () => {
    assert.equal(
      attachment('Übersicht.pdf'),
      `attachment; filename="_bersicht.pdf"; filename*=UTF-8''%C3%9Cbersicht.pdf`,
    )
    assert.equal(attachment('a"b\\c'), `attachment; filename="a_b_c"; filename*=UTF-8''a%22b%5Cc`)
    assert.equal(attachment('😀'), `attachment; filename="_"; filename*=UTF-8''%F0%9F%98%80`)
  })

  it('is one header, from which any name can be read back', () =>
    forAll(fc.string({ unit: 'binary' }), (name) => {
      const value = attachment(name)
      validateHeaderValue('Content-Disposition', value)
      const [, extended] = value.split("filename*=UTF-8''")
      const [, plain] = /filename="([^"]*)"/.exec(value) ?? []
      const named = extended === undefined ? plain : decodeURIComponent(extended)
      assert.equal(named, name.toWellFormed())
    }))
})

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
    forAll(fc.integer({ min: 0, max: 999_999_999_999_999 }), (count) => {
      assert.equal(parseCountField(String(count)), count)
    })
  })

  it('throws nothing, whatever it is, in linear time', () => {
    forAll(fc.string({ unit: 'binary' }), (text) => {
      parseBooleanField(text)
      parseCountField(text)
    })
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
    forAll(members, (all) => {
      const field = all
        .map(([name, bytes]) => `${name}=:${Buffer.from(bytes).toString('base64')}:`)
        .join(', ')
      for (const [name, bytes] of all) {
        assert.deepEqual(new Uint8Array(parseBytesMember(field, name) ?? []), bytes)
      }
      assert.equal(parseBytesMember(`${field}, ?`, all[0]?.[0] ?? ''), undefined)
    })
    forAll(fc.string({ unit: 'binary' }), (text) => void parseBytesMember(text, 'a'))
  })
})
