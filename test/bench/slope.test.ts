import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Random } from '../../bench/soak/random.ts'
import { mediansOf, slopeOf, type Point } from '../../bench/soak/slope.ts'

/** A sawtooth, as collections of garbage make it, with noise and a few outliers. */
function memory(growth: number): readonly Point[] {
  const random = new Random(5)
  return Array.from({ length: 300 }, (_, index) => {
    const at = index / 30
    const outlier = random.chance(0.05) ? 64 : 0
    return { at, value: 100 + growth * at + (index % 17) + 5 * random.next() + outlier }
  })
}

describe('slopeOf()', () => {
  it('sees no growth where there is none', () => {
    const slope = slopeOf(mediansOf(memory(0), 20))
    assert.ok(slope !== undefined && slope.low < 0 && slope.high > 0, JSON.stringify(slope))
  })

  it('sees how much something grows, or shrinks', () => {
    for (const growth of [1, -1, 20]) {
      const slope = slopeOf(mediansOf(memory(growth), 20))
      const { low = NaN, perUnit = NaN, high = NaN } = slope ?? {}
      assert.ok(low < growth && growth < high, JSON.stringify(slope))
      assert.ok(Math.abs(perUnit - growth) < 0.5, JSON.stringify(slope))
      assert.equal(Math.sign(low), Math.sign(growth))
    }
  })

  it('says nothing of a few points', () => {
    assert.equal(slopeOf(memory(1).slice(0, 9)), undefined)
    assert.equal(slopeOf([]), undefined)
    assert.deepEqual(mediansOf([], 20), [])
  })
})
