import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MAX_ORIGINS, ReplayGuard } from '../../../src/peers/bus/replay-guard.ts'
import fc, { forAll } from '../../support/property.ts'

describe('the replay guard', () => {
  it('takes each signal once, in order, and sees what is missing', () => {
    const guard = new ReplayGuard([])
    const check = (epoch: number, ...counters: readonly number[]) =>
      counters.map((counter) => guard.check('a', epoch, counter))
    const first = ['start', 'seen', 'new', 'seen', 'gap', 'seen']
    assert.deepEqual(check(1, 7, 7, 8, 6, 11, 9), first)
    assert.deepEqual(check(2, 1), ['start'])
    assert.deepEqual(check(1, 12), ['seen'])
    assert.deepEqual(check(2, 1, 2), ['seen', 'new'])
    assert.deepEqual(check(9, 5), ['start'])
    assert.equal(guard.check('b', 1, 1), 'start')
  })

  it('refuses an earlier start of a member also after a start of its own', () => {
    const earlier = new ReplayGuard([])
    earlier.check('a', 5, 100)
    const guard = new ReplayGuard(earlier.epochs)
    assert.deepEqual(guard.epochs, [{ origin: 'a', epoch: 5 }])
    assert.equal(guard.check('a', 4, 1000), 'seen')
    assert.equal(guard.check('a', 5, 40), 'new')
    assert.equal(guard.check('a', 5, 40), 'seen')
  })

  it('never takes a signal twice, in whatever order a broker repeats them', () => {
    const signal = fc.tuple(
      fc.constantFrom('a', 'b', 'c'),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 9 }),
    )
    forAll(fc.array(signal, { maxLength: 200 }), (signals) => {
      const guard = new ReplayGuard([])
      const taken = new Set<string>()
      for (const [origin, epoch, counter] of signals) {
        const name = `${origin} ${epoch} ${counter}`
        if (guard.check(origin, epoch, counter) === 'seen') continue
        assert.ok(!taken.has(name), `${name} was taken twice`)
        taken.add(name)
      }
    })
  })

  it('remembers a bounded number of members, those that were heard last', () => {
    const guard = new ReplayGuard([])
    for (let index = 0; index < 3 * MAX_ORIGINS; index += 1) guard.check(`m_${index}`, 1, 1)
    assert.equal(guard.epochs.length, MAX_ORIGINS)
    assert.equal(guard.check(`m_${3 * MAX_ORIGINS - 1}`, 1, 1), 'seen')
  })
})
