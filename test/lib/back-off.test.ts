import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { backOff } from '../../src/lib/back-off.ts'
import fc, { forAll } from '../support/property.ts'

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('backOff()', () => {
  it('may be anything from nothing to twice the time before, up to 30 s', () => {
    const longest = [0, 1, 2, 3, 4, 5, 6, 7, 1000, 1e9].map((failures) =>
      backOff(failures, { random: () => 1 }),
    )
    assert.deepEqual(longest, [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000, 30000])
    assert.equal(backOff(5, { random: () => 0 }), 0)
  })

  it('is never longer than 30 s and what the server asks for, and never shorter than that', () => {
    const asked = fc.oneof(fc.nat(600_000), fc.constantFrom(0, Infinity))
    forAll(fc.nat(), chance, asked, (failures, random, retryAfterMs) => {
      const wait = backOff(failures, { random: () => random, retryAfterMs })
      const least = Math.min(retryAfterMs, 300_000)
      assert.ok(wait >= least && wait <= least + 30_000, String(wait))
    })
  })
})
