import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FairQueue } from '../../src/lib/fair-queue.ts'
import fc, { forAll } from '../support/property.ts'

function takeAll<Item extends NonNullable<unknown>>(queue: FairQueue<Item>): readonly Item[] {
  const items: Item[] = []
  for (let item = queue.take(); item !== undefined; item = queue.take()) items.push(item)
  return items
}

/** A queue with items whose names begin with their lanes. */
function fill(capacity: number, names: readonly string[]) {
  const queue = new FairQueue<string>(capacity)
  const refused = names.map((name) => queue.add(name, name.charAt(0)))
  return { queue, refused: refused.filter((item) => item !== undefined) }
}

describe('FairQueue', () => {
  it('serves lanes in turn, and each in order', () => {
    const { queue } = fill(9, ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'])
    assert.deepEqual(takeAll(queue), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
    assert.equal(queue.take(), undefined)
  })

  it('has the newest of the longest lane leave when it is full, or else the newcomer', () => {
    assert.deepEqual(fill(2, ['a1', 'a2', 'a3']).refused, ['a3'])
    assert.deepEqual(fill(2, ['a1', 'b1', 'c1']).refused, ['c1'])
    assert.deepEqual(fill(0, ['a1']).refused, ['a1'])
    assert.deepEqual(fill(3, ['a1', 'a2', 'a3', 'b1', 'c1']).refused, ['a3', 'a2'])
  })

  it('never holds more than it may, loses nothing, and is fair to every lane', () => {
    const lane = fc.constantFrom('a', 'b', 'c', 'd')
    const step = fc.oneof(lane, fc.constant('take' as const), fc.nat(50))
    forAll(fc.nat(8), fc.array(step, { maxLength: 60 }), (capacity, steps) => {
      const queue = new FairQueue<{ readonly lane: string }>(capacity)
      const waiting = new Set<{ readonly lane: string }>()
      const lengthOf = (name: string) => [...waiting].filter((item) => item.lane === name).length
      for (const action of steps) {
        if (typeof action === 'number') {
          const item = [...waiting][action]
          if (item === undefined) continue
          assert.equal(queue.delete(item), true)
          waiting.delete(item)
          assert.equal(queue.delete(item), false)
        } else if (action === 'take') {
          const item = queue.take()
          assert.equal(item === undefined, waiting.size === 0)
          if (item !== undefined) assert.equal(waiting.delete(item), true)
        } else {
          const item = { lane: action }
          waiting.add(item)
          const refused = queue.add(item, action)
          if (refused === undefined) continue
          assert.equal(waiting.size, capacity + 1)
          const lengths = ['a', 'b', 'c', 'd'].map(lengthOf)
          assert.equal(lengthOf(refused.lane), Math.max(...lengths))
          assert.equal(waiting.delete(refused), true)
        }
        assert.equal(queue.size, waiting.size)
      }
      assert.deepEqual(new Set(takeAll(queue)), waiting)
    })
  })

  it('serves an item that is the first of its lane before any lane has its turn twice', () => {
    const steps = fc.array(fc.constantFrom('a', 'b', 'c', 'take' as const), { maxLength: 60 })
    forAll(steps, steps, (before, after) => {
      const queue = new FairQueue<{ readonly lane: string }>(200)
      const own = { lane: 'own' }
      const served: string[] = []
      const act = (step: string): void => {
        if (step !== 'take') queue.add({ lane: step }, step)
        else served.push(queue.take()?.lane ?? '')
      }
      before.forEach(act)
      queue.add(own, own.lane)
      served.length = 0
      after.forEach(act)
      while (queue.size > 0) act('take')
      const others = served.slice(0, served.indexOf(own.lane))
      assert.equal(new Set(others).size, others.length, others.join())
    })
  })
})
