import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatTime, parseTime } from '../../../src/gateway/wire/wire-time.ts'
import fc from '../../support/property.ts'

const NOON = Date.UTC(2026, 0, 31, 12, 0, 0)

describe('a time', () => {
  it('is read in the spellings of all platforms', () => {
    const spellings = [
      '2026-01-31T12:00:00.000Z',
      '2026-01-31T12:00:00Z',
      '2026-01-31t12:00z',
      '2026-01-31 12:00:00',
      '2026-01-31T12:00:00.0000000Z',
      '2026-01-31T12:00:00,000000000+00:00',
      '2026-01-31T20:00:00+08:00',
      '2026-01-31T20:00:00+0800',
      '2026-01-31T07:30-04:30',
    ]
    for (const text of spellings) assert.equal(parseTime(text), NOON, text)
    assert.equal(parseTime('2026-01-31'), NOON - 12 * 3_600_000)
    assert.equal(parseTime('1970-01-01T00:00:00Z'), 0)
  })

  it('is exact to the millisecond', () => {
    assert.equal(parseTime('2026-01-31T12:00:00.7899999Z'), NOON + 789)
    assert.equal(parseTime('2026-01-31T12:00:00.7Z'), NOON + 700)
  })

  it('is none when it could be several, or never was', () => {
    const others = [
      '',
      'yesterday',
      '2026',
      '2026-02-30',
      '2026-13-01',
      '2026-01-31T25:00',
      '2026-01-31T12',
      '2026-01-31T12:00:00 08:00',
      '2026-01-31T12:00:60Z',
      '2026-01-31T12:00:00+25:00',
      '31.1.2026',
      '1769860800000',
      '0001-01-01T00:00:00Z',
      '1969-12-31T23:59:59.999Z',
      '-000001-01-01',
      '9999-12-31T23:59:59-01:00',
      '2026-01-31T12:00:00Z and more',
    ]
    for (const text of others) assert.equal(parseTime(text), undefined, text)
  })

  it('is written in one spelling, and read as it was written', () => {
    const last = parseTime('9999-12-31T23:59:59.999Z') ?? 0
    fc.assert(
      fc.property(fc.integer({ min: 0, max: last }), (at) => {
        assert.match(formatTime(at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        assert.equal(parseTime(formatTime(at)), at)
      }),
    )
  })

  it('is one that can be written, whatever was read', () => {
    const spelled = /^\d{4}-[01]\d-[012]\d[T ][012]\d:[0-5]\d(:[0-5]\d(\.\d{1,9})?)?[+-]\d\d:?\d\d$/
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(spelled)), (text) => {
        const at = parseTime(text)
        if (at !== undefined) assert.match(formatTime(at), /^\d{4}-.{18}Z$/)
      }),
    )
  })
})
