import assert from 'node:assert/strict'
import { it } from 'node:test'
import { isBelievable, MAX_AHEAD_MS, MAX_APART_MS } from '../../src/core/circle-time.ts'
import {
  believedStamp,
  compareStamps,
  isStamp,
  stampAfter,
  stampOf,
  type Stamp,
} from '../../src/core/stamp.ts'
import fc, { forAll } from '../support/property.ts'

const LAST = 100_000_000_000_000
const ME = 'm_0000000000000000'
const HIGHEST = 'm_ffffffffffffffff'

/** From 1970 to the year 9999, as machines say it. */
const CLOCKS = fc.integer({ min: 0, max: 253_402_300_799_999 })

const STAMPS = fc.record({
  at: fc.oneof(fc.integer({ min: 0, max: LAST }), fc.integer({ min: LAST - 5, max: LAST })),
  member: fc.constantFrom(ME, HIGHEST),
})

// Protocol: Stamps are compared by `stampedAt`, `stampedBy`
it('a stamp is later than whatever is believed, and is one itself, by any clock', () =>
  forAll(STAMPS, CLOCKS, (known, clock) => {
    const believed = stampOf({ stamp: known, activatedAt: 0 }, (at) => isBelievable(at, clock))
    const next = stampAfter(believed, clock, ME)
    assert.ok(compareStamps(next, believed) > 0, 'it wins')
    assert.ok(isStamp(next), `${next.at} is a time`)
  }))

it('a stamp goes on for ever, each later than the one before, where time goes on too', () => {
  const pauseLists = fc.array(fc.integer({ min: 1, max: 1000 }))
  forAll(STAMPS, CLOCKS, pauseLists, (first, start, pauses) => {
    let clock = Math.min(start, LAST - 1_000_000)
    const believes = (at: number): boolean => isBelievable(at, clock)
    let current: Stamp = first
    for (const pause of pauses) {
      clock += pause
      const next = stampAfter(believedStamp(current, believes), clock, ME)
      assert.ok(compareStamps(next, believedStamp(current, believes)) > 0, 'it wins')
      current = next
    }
  })
})

it('a stamp that is too far ahead is older than all others, and the same on every member', () => {
  const believes = (at: number): boolean => isBelievable(at, Date.UTC(2026, 10, 1))
  const frozen = { at: LAST, member: HIGHEST }
  assert.deepEqual(believedStamp(frozen, believes), { at: 0, member: HIGHEST })
  assert.deepEqual(stampAfter(believedStamp(frozen, believes), 1_800_000_000_000, ME), {
    at: 1_800_000_000_000,
    member: ME,
  })
  const furthest = Date.UTC(2026, 10, 1) + MAX_AHEAD_MS + MAX_APART_MS
  const honest = { at: furthest, member: ME }
  assert.deepEqual(believedStamp(honest, believes), honest)
})
