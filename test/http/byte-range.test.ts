import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseRange } from '../../src/http/byte-range.ts'
import fc from '../support/property.ts'

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
    fc.assert(
      fc.property(anything, fc.nat(), (header, size) => {
        const range = parseRange(header, size)
        if (range === undefined || range === 'unsatisfiable') return
        assert.ok(0 <= range.start && range.start < range.end && range.end <= size)
      }),
    )
  })

  it('is read as it was written', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), (start, length, rest) => {
        const last = start + length
        const range = parseRange(`bytes=${start}-${last}`, last + 1 + rest)
        assert.deepEqual(range, { start, end: last + 1 })
      }),
    )
  })
})
