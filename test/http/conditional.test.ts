import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkPreconditions, isRangeCurrent, parseRange } from '../../src/http/conditional.ts'
import fc, { forAll } from '../support/property.ts'

const DATE = 'Fri, 01 Jan 2100 00:00:00 GMT'

describe('If-None-Match', () => {
  it('finds the tag in a list, weakly', () => {
    for (const list of ['"a"', 'W/"a"', '"b", "a"', '"b","a" ', ',, "a"', '*', ' * ']) {
      assert.equal(checkPreconditions({ 'if-none-match': list }, '"a"'), 'not-modified', list)
    }
    assert.equal(checkPreconditions({ 'if-none-match': '"a"' }, 'W/"a"'), 'not-modified')
  })

  it('does not find what is not there', () => {
    for (const list of ['"b"', '', 'a', '"A"', '"a', '"aa"']) {
      assert.equal(checkPreconditions({ 'if-none-match': list }, '"a"'), 'proceed', list)
    }
  })

  it('finds each tag of any list, and no other', () => {
    const tag = fc.string({ unit: fc.constantFrom(...'ab-,W/') }).map((text) => `"${text}"`)
    forAll(fc.array(tag), tag, (tags, etag) => {
      const verdict = checkPreconditions({ 'if-none-match': tags.join(', ') }, etag)
      assert.equal(verdict, tags.includes(etag) ? 'not-modified' : 'proceed')
    })
  })
})

describe('If-Match', () => {
  it('compares strongly', () => {
    assert.equal(checkPreconditions({ 'if-match': '"b", "a"' }, '"a"'), 'proceed')
    assert.equal(checkPreconditions({ 'if-match': '*' }, '"a"'), 'proceed')
    assert.equal(checkPreconditions({ 'if-match': '"b"' }, '"a"'), 'failed')
    assert.equal(checkPreconditions({ 'if-match': 'W/"a"' }, '"a"'), 'failed')
    assert.equal(checkPreconditions({ 'if-match': 'W/"a"' }, 'W/"a"'), 'failed')
  })
})

describe('dates', () => {
  // Protocol: Dates are neither sent nor compared
  it('never count, since two items can be of the same second', () => {
    for (const date of [DATE, '', 'yesterday', '"a"']) {
      const headers = { 'if-modified-since': date, 'if-unmodified-since': date }
      assert.equal(checkPreconditions(headers, '"a"'), 'proceed')
    }
  })
})

describe('If-Range', () => {
  it('lets a range count for the same tag', () => {
    assert.ok(isRangeCurrent('"a"', '"a"'))
  })

  it('is strict about everything else', () => {
    for (const header of ['"b"', 'W/"a"', '"a", "b"', DATE, '*', '', 'a']) {
      assert.ok(!isRangeCurrent(header, '"a"'), header)
      assert.ok(!isRangeCurrent(header, undefined), header)
    }
    assert.ok(!isRangeCurrent('W/"a"', 'W/"a"'))
  })
})

describe('any header', () => {
  it('leads to one of three ends', () => {
    const header = fc.option(fc.string(), { nil: undefined })
    forAll(header, header, header, header, (none, match, since, until) => {
      const given = {
        ...(none === undefined ? {} : { 'if-none-match': none }),
        ...(match === undefined ? {} : { 'if-match': match }),
        ...(since === undefined ? {} : { 'if-modified-since': since }),
        ...(until === undefined ? {} : { 'if-unmodified-since': until }),
      }
      assert.match(checkPreconditions(given, '"a"'), /^(proceed|not-modified|failed)$/)
    })
  })
})

describe('a Range header', () => {
  it('asks for a part from the start, the middle or the end', () => {
    assert.deepEqual(parseRange('bytes=0-4', 10), { start: 0, end: 5 })
    assert.deepEqual(parseRange('bytes=7-', 10), { start: 7, end: 10 })
    assert.deepEqual(parseRange('bytes=-3', 10), { start: 7, end: 10 })
    assert.deepEqual(parseRange('Bytes=0-0', 10), { start: 0, end: 1 })
  })

  it('is cut at the end of the resource', () => {
    assert.deepEqual(parseRange('bytes=5-99999999999999999999', 10), { start: 5, end: 10 })
    assert.deepEqual(parseRange('bytes=-99', 10), { start: 0, end: 10 })
  })

  it('is unsatisfiable when it begins behind the end, or asks for no bytes', () => {
    assert.equal(parseRange('bytes=10-', 10), 'unsatisfiable')
    assert.equal(parseRange('bytes=99999999999999999999-', 10), 'unsatisfiable')
    assert.equal(parseRange('bytes=-0', 10), 'unsatisfiable')
    assert.equal(parseRange('bytes=0-', 0), 'unsatisfiable')
  })

  it('does not count when it is malformed, or asks for several parts', () => {
    const headers = [
      '',
      'bytes',
      'bytes=',
      'bytes=-',
      'bytes=a-b',
      'bytes=5-4',
      'bytes=0-1,3-4',
      'bytes=0-1,',
      'items=0-1',
      'bytes=0x1-2',
      'bytes=--1',
      'bytes=1-2-3',
      'bytes=1e1-',
      ' bytes=0-1 x',
      `bytes=${'9'.repeat(500)}-`,
    ]
    for (const header of headers) assert.equal(parseRange(header, 10), undefined, header)
  })

  it('does not count as the end of an empty resource', () => {
    assert.equal(parseRange('bytes=-5', 0), undefined)
  })

  it('never leads outside of the resource, whatever it says', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom(...'019-, ') }).map((text) => `bytes=${text}`),
    )
    forAll(anything, fc.nat(), (header, size) => {
      const range = parseRange(header, size)
      if (range === undefined || range === 'unsatisfiable') return
      assert.ok(0 <= range.start && range.start < range.end && range.end <= size)
    })
  })

  it('is read as it was written', () =>
    forAll(fc.nat(), fc.nat(), fc.nat(), (start, length, rest) => {
      const last = start + length
      const range = parseRange(`bytes=${start}-${last}`, last + 1 + rest)
      assert.deepEqual(range, { start, end: last + 1 })
    }))
})
