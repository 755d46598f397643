import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FairQueue, type Place } from '../../src/lib/fair-queue.ts'
import fc from '../support/property.ts'

const later = (lane: string): Place => ({ lane, goesFirst: false })
const first = (lane: string): Place => ({ lane, goesFirst: true })

function takeAll<Item extends NonNullable<unknown>>(queue: FairQueue<Item>): readonly Item[] {
  const items: Item[] = []
  for (let item = queue.take(); item !== undefined; item = queue.take()) items.push(item)
  return items
}

/** A queue with items whose names begin with their lanes; those in capitals go first. */
function fill(capacity: number, names: readonly string[]) {
  const queue = new FairQueue<string>(capacity)
  const refused = names.map((name) => {
    const lane = name.charAt(0).toLowerCase()
    return queue.add(name, name.charAt(0) === lane ? later(lane) : first(lane))
  })
  return { queue, refused: refused.filter((item) => item !== undefined) }
}

describe('FairQueue', () => {
  it('serves lanes in turn, and each in order', () => {
    const { queue } = fill(9, ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'])
    assert.deepEqual(takeAll(queue), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
    assert.equal(queue.take(), undefined)
  })

  it('lets some go first within their lane, in order too', () => {
    const { queue } = fill(9, ['a1', 'b1', 'A2', 'A3'])
    assert.deepEqual(takeAll(queue), ['A2', 'b1', 'A3', 'a1'])
  })

  it('gives a lane that comes back its turn after the others', () => {
    const { queue } = fill(9, ['a1', 'b1', 'b2'])
    assert.equal(queue.take(), 'a1')
    queue.add('a2', later('a'))
    assert.deepEqual(takeAll(queue), ['b1', 'a2', 'b2'])
  })

  it('refuses a newcomer of the longest lane when it is full', () => {
    assert.deepEqual(fill(2, ['a1', 'a2', 'a3']).refused, ['a3'])
    assert.deepEqual(fill(2, ['a1', 'b1', 'c1']).refused, ['c1'])
    assert.deepEqual(fill(0, ['a1']).refused, ['a1'])
  })

  it('drops the newest of a longer lane for a newcomer', () => {
    const { queue, refused } = fill(3, ['a1', 'a2', 'a3', 'b1', 'c1'])
    assert.deepEqual(refused, ['a3', 'a2'])
    assert.deepEqual(takeAll(queue), ['a1', 'b1', 'c1'])
  })

  it('drops those who go first only when there is nobody else in the lane', () => {
    const { queue, refused } = fill(2, ['a1', 'a2', 'A3', 'A4', 'A5'])
    assert.deepEqual(refused, ['a2', 'a1', 'A5'])
    assert.deepEqual(takeAll(queue), ['A3', 'A4'])
  })

  it('forgets those who give up', () => {
    const { queue } = fill(4, ['a1', 'A2', 'a3', 'b1'])
    const wereThere = ['A2', 'b1', 'b1', 'x'].map((item) => queue.delete(item))
    assert.deepEqual(wereThere, [true, true, false, false])
    assert.equal(queue.size, 2)
    queue.add('A4', first('a'))
    assert.deepEqual(takeAll(queue), ['A4', 'a1', 'a3'])
  })

  it('never holds more than it may, loses nothing, and is fair to every lane', () => {
    const lane = fc.constantFrom('a', 'b', 'c', 'd')
    const step = fc.oneof(
      fc.record({ lane, goesFirst: fc.boolean() }),
      fc.constant('take' as const),
      fc.nat(50),
    )
    fc.assert(
      fc.property(fc.nat(8), fc.array(step, { maxLength: 60 }), (capacity, steps) => {
        const queue = new FairQueue<{ readonly lane: string }>(capacity)
        const waiting = new Set<{ readonly lane: string }>()
        const lengthOf = (name: string) => [...waiting].filter((item) => item.lane === name).length
        for (const action of steps) {
          if (typeof action === 'number') {
            const item = [...waiting][action]
            if (item === undefined) continue
            assert.equal(queue.delete(item), true)
            waiting.delete(item)
          } else if (action === 'take') {
            const item = queue.take()
            assert.equal(item === undefined, waiting.size === 0)
            if (item !== undefined) assert.equal(waiting.delete(item), true)
          } else {
            const item = { lane: action.lane }
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
      }),
    )
  })
})
