import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HttpError } from '../../src/http/http-error.ts'
import { parseBoundary } from '../../src/http/multipart-boundary.ts'
import fc from '../support/property.ts'

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
    fc.assert(
      fc.property(text, (rest) => {
        try {
          const boundary = parseBoundary(`multipart/form-data; boundary=${rest}`)
          assert.match(boundary, /^[!-~]([ -~]{0,68}[!-~])?$/)
        } catch (error) {
          assert.ok(error instanceof HttpError, `threw ${String(error)}`)
          assert.equal(error.code, 'MULTIPART_BOUNDARY')
        }
      }),
    )
  })
})
