import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Subscribers } from '../../src/lib/subscribers.ts'

describe('Subscribers', () => {
  it('tells everybody, each as often as they subscribed', () => {
    const subscribers = new Subscribers()
    let heard = 0
    const listener = (): void => {
      heard += 1
    }
    const stops = [subscribers.add(listener), subscribers.add(listener)]
    assert.equal(subscribers.isEmpty, false)
    subscribers.notify()
    assert.equal(heard, 2)
    stops[0]?.()
    stops[0]?.()
    subscribers.notify()
    assert.equal(heard, 3)
    stops[1]?.()
    subscribers.notify()
    assert.deepEqual([heard, subscribers.isEmpty], [3, true])
  })
})
