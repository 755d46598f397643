import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Chain, type Link } from '../../src/lib/chain.ts'
import fc, { forAll } from '../support/property.ts'

interface Named extends Link<Named> {
  readonly name: number
}

function link(name: number): Named {
  return { name, previous: undefined, next: undefined }
}

function namesOf(chain: Chain<Named>): readonly number[] {
  return [...chain].map(({ name }) => name)
}

describe('a chain', () => {
  it('has what was added and not removed, oldest first', () =>
    forAll(fc.array(fc.nat(20)), (removals) => {
      const chain = new Chain<Named>()
      const all = removals.map((_, name) => link(name))
      for (const each of all) chain.add(each)
      const left = new Set(all)
      for (const at of removals) {
        const one = all[at]
        if (one !== undefined) assert.equal(chain.delete(one), left.delete(one))
      }
      assert.deepEqual(
        namesOf(chain),
        [...left].map(({ name }) => name),
      )
      assert.equal(chain.size, left.size)
      const again = link(-1)
      chain.add(again)
      assert.equal(namesOf(chain).at(-1), -1)
    }))

  it('can lose what is visited', () => {
    const chain = new Chain<Named>()
    for (const name of [1, 2, 3]) chain.add(link(name))
    for (const each of chain) chain.delete(each)
    assert.equal(chain.size, 0)
    assert.deepEqual(namesOf(chain), [])
  })

  it('lets go of what was removed', () => {
    const chain = new Chain<Named>()
    const [first, second, third] = [link(1), link(2), link(3)]
    for (const each of [first, second, third]) chain.add(each)
    chain.delete(second)
    assert.deepEqual(second, link(2))
    assert.equal(chain.delete(second), false)
  })
})
