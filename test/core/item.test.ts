import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { matchesHash, withAlias, type Item } from '../../src/core/item.ts'

const ITEM: Item = {
  type: 'Image',
  text: 'a.png',
  dataName: 'a.png',
  mediaType: 'image/png',
  size: 3,
  contentId: 'blake3v1:00',
  contentHash: 'c0ffee',
  nameHash: 'beef',
  aliases: ['d00d'],
  activatedAt: 0,
}

describe('matchesHash()', () => {
  // Protocol: Every item answers to several hashes
  it('knows the content hash, the name-bound one and aliases, in any case', () => {
    for (const hash of ['C0FFEE', 'Beef', 'd00D']) assert.equal(matchesHash(ITEM, hash), true, hash)
    for (const hash of ['', 'c0ffe', 'feed']) assert.equal(matchesHash(ITEM, hash), false, hash)
  })
})

describe('withAlias()', () => {
  it('adds a hash that the item does not answer to yet, and none that is empty or far too long', () => {
    assert.deepEqual(withAlias(ITEM, 'FEED'), ['d00d', 'feed'])
    for (const hash of ['', 'C0FFEE', 'beef', 'D00D', 'x'.repeat(300)]) {
      assert.deepEqual(withAlias(ITEM, hash), ['d00d'])
    }
  })

  it('moves a hash that comes again to the end, and forgets the oldest of too many', () => {
    const many = Array.from({ length: 16 }, (_, index) => `a${index}`)
    assert.deepEqual(withAlias({ ...ITEM, aliases: many }, 'a3').at(-1), 'a3')
    const grown = withAlias({ ...ITEM, aliases: many }, 'new')
    assert.equal(grown.length, 16)
    assert.deepEqual([grown[0], grown.at(-1)], ['a1', 'new'])
  })
})
