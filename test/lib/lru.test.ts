import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Lru } from '../../src/lib/lru.ts'
import fc, { forAll } from '../support/property.ts'

it('Lru does what a list in the order of use does, and forgets everything when it is cleared', () => {
  const value = fc.option(fc.nat(), { nil: undefined })
  const steps = fc.array(fc.record({ key: fc.nat(6), value }))
  forAll(fc.integer({ min: 1, max: 5 }), steps, (capacity, all) => {
    const lru = new Lru<number, number>(capacity)
    let model: (readonly [number, number])[] = []
    for (const { key, value } of all) {
      const known = model.find(([other]) => other === key)?.[1]
      if (value === undefined) assert.equal(lru.get(key), known)
      else lru.set(key, value)
      const now = value ?? known
      if (now === undefined) continue
      const others = model.filter(([other]) => other !== key)
      model = [...others, [key, now] as const].slice(-capacity)
    }
    assert.equal([...lru.entries()].length, model.length)
    for (const [key, value] of model) assert.equal(lru.get(key), value)
    lru.clear()
    assert.equal([...lru.entries()].length, 0)
  })
})
