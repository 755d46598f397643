import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { Shares } from '../../src/lib/shares.ts'

describe('Shares', () => {
  it('says what one owner has, and all together', () => {
    const shares = new Shares()
    shares.add('a', 3)
    shares.add('b', 4)
    assert.equal(shares.add('a', 2), 5)
    assert.deepEqual([shares.of('a'), shares.of('b'), shares.of('c')], [5, 4, 0])
    assert.equal(shares.total, 9)
  })

  it('forgets owners that have nothing', () => {
    const shares = new Shares()
    shares.add('a', 0)
    shares.add('b', 2)
    shares.add('b', -2)
    assert.equal(shares.owners, 0)
    assert.deepEqual(shares.largestFirst(), [])
  })

  it('lists the owner with most first, and equal ones as they came', () => {
    const shares = new Shares()
    for (const [owner, amount] of [
      ['a', 1],
      ['b', 3],
      ['c', 1],
    ] as const)
      shares.add(owner, amount)
    const owners = shares.largestFirst().map(([owner]) => owner)
    assert.deepEqual(owners, ['b', 'a', 'c'])
  })
})
