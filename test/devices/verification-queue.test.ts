import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VerificationQueue, type Place } from '../../src/devices/verification-queue.ts'
import fc, { forAll } from '../support/property.ts'

const CAPACITY = 4

/** Somebody whose name does not exist, or has failed. */
const crowd = (lane: string): Place => ({ lane, comesAgain: false })

const returning = (lane: string): Place => ({ lane, comesAgain: true })

function device(username: string, isAtUsualNetwork: boolean): Place {
  return { lane: 'any', comesAgain: false, reservation: { username, isAtUsualNetwork } }
}

function takeAll<Item extends NonNullable<unknown>>(
  queue: VerificationQueue<Item>,
): readonly Item[] {
  const items: Item[] = []
  for (let item = queue.take(); item !== undefined; item = queue.take()) items.push(item)
  return items
}

interface Waiting {
  readonly place: Place
}

/** Whatever others may do: ask from many networks, under many names, again and again. */
const places: fc.Arbitrary<Place> = fc.record({
  lane: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  comesAgain: fc.boolean(),
  reservation: fc.option(
    fc.record({ username: fc.constantFrom('x', 'y'), isAtUsualNetwork: fc.boolean() }),
    { nil: undefined },
  ),
})

const steps = fc.array(fc.oneof(places, fc.constant('take' as const)), { maxLength: 80 })

describe('VerificationQueue', () => {
  // Protocol: Four kinds of verifications have their turn
  it('serves its rows in turn, whatever waits in each', () => {
    const queue = new VerificationQueue<string>(CAPACITY)
    for (const item of ['c1', 'c2', 'c3']) queue.add(item, crowd(item))
    for (const item of ['r1', 'r2']) queue.add(item, returning(item))
    for (const item of ['e1', 'e2']) queue.add(item, device(item, false))
    for (const item of ['u1', 'u2']) queue.add(item, device(item, true))
    const inTurn = ['u1', 'e1', 'r1', 'c1', 'u2', 'e2', 'r2', 'c2', 'c3']
    assert.deepEqual(takeAll(queue), inTurn)
  })

  it('serves a device next when only a crowd was served before', () => {
    const queue = new VerificationQueue<string>(CAPACITY)
    for (const item of ['c1', 'c2', 'c3', 'c4']) queue.add(item, crowd(item))
    assert.deepEqual([queue.take(), queue.take()], ['c1', 'c2'])
    queue.add('phone', device('phone', false))
    assert.deepEqual(takeAll(queue), ['phone', 'c3', 'c4'])
  })

  it('has a place for each device when it is full, and one only', () => {
    const queue = new VerificationQueue<string>(0)
    assert.equal(queue.add('c1', crowd('a')), 'c1')
    assert.equal(queue.add('phone', device('phone', false)), undefined)
    assert.equal(queue.add('guess', device('phone', false)), 'guess')
    assert.equal(queue.add('at home', device('phone', true)), undefined)
    assert.equal(queue.add('other', device('other', false)), undefined)
    assert.equal(queue.size, 3)
    assert.deepEqual(takeAll(queue), ['at home', 'phone', 'other'])
    assert.equal(queue.add('again', device('phone', false)), undefined)
  })

  it('lets a device wait with the others when its place is taken', () => {
    const queue = new VerificationQueue<string>(1)
    queue.add('guess', device('phone', false))
    assert.equal(queue.add('phone', device('phone', false)), undefined)
    assert.deepEqual(takeAll(queue), ['guess', 'phone'])
  })

  it('forgets those who give up', () => {
    const queue = new VerificationQueue<string>(CAPACITY)
    queue.add('c1', crowd('a'))
    queue.add('r1', returning('a'))
    queue.add('e1', device('phone', false))
    queue.add('u1', device('phone', true))
    const wereThere = ['u1', 'c1', 'e1', 'r1', 'r1'].map((item) => queue.delete(item))
    assert.deepEqual(wereThere, [true, true, true, true, false])
    assert.equal(queue.size, 0)
    assert.equal(queue.add('e2', device('phone', false)), undefined)
  })

  it('never holds more than two crowds and the places of the devices, and loses nothing', () =>
    forAll(steps, (actions) => {
      const queue = new VerificationQueue<Waiting>(CAPACITY)
      const waiting = new Set<Waiting>()
      for (const action of actions) {
        if (action === 'take') {
          const item = queue.take()
          assert.equal(item === undefined, waiting.size === 0)
          if (item !== undefined) assert.equal(waiting.delete(item), true)
        } else {
          const item = { place: action }
          waiting.add(item)
          const refused = queue.add(item, action)
          if (refused !== undefined) assert.equal(waiting.delete(refused), true)
        }
        assert.equal(queue.size, waiting.size)
        assert.equal(queue.size <= 2 * CAPACITY + 2 * 2, true)
      }
      assert.deepEqual(new Set(takeAll(queue)), waiting)
    }))

  it('never takes the place of a device away, whatever others ask for, and serves it soon', () =>
    forAll(steps, fc.boolean(), steps, (before, isAtUsualNetwork, after) => {
      const queue = new VerificationQueue<Waiting>(CAPACITY)
      for (const action of before) {
        if (action === 'take') queue.take()
        else queue.add({ place: action }, action)
      }
      const own = { place: device('own', isAtUsualNetwork) }
      assert.equal(queue.add(own, own.place), undefined)
      let turns = 0
      for (const action of [...after, ...Array<'take'>(12).fill('take')]) {
        if (action !== 'take') {
          assert.notEqual(queue.add({ place: action }, action), own)
          continue
        }
        turns += 1
        if (queue.take() === own) break
      }
      // Before it there are the two other names of its row, and three rows that have their turns.
      assert.equal(turns <= 4 * 3, true, `it waited for ${turns} turns`)
      assert.equal(queue.delete(own), false)
    }))
})
