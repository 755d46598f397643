import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { containsWord, containsWordIn, MAX_SEARCH_LENGTH } from '../../src/lib/search-text.ts'
import fc from '../support/property.ts'
import { turnsDuring } from '../support/turns-during.ts'

const PIECE = 2 ** 20

describe('a word in a text', () => {
  it('is found in any letter case, wherever the text is cut', async () => {
    const word = fc.string({ unit: fc.constantFrom('🧀', 'Σ', 'İ', 'ß', 'x', 'Y'), minLength: 1 })
    await fc.assert(
      fc.asyncProperty(word, fc.nat(20), async (word, back) => {
        const text = `${'-'.repeat(PIECE - back)}${word}-`
        assert.equal(await containsWord(text, word.toLowerCase()), true)
        assert.equal(await containsWord(text, `${word.toLowerCase()}z`), false)
      }),
      { numRuns: 30 },
    )
    assert.equal(await containsWord('', ''), true)
    assert.equal(await containsWord('', 'a'), false)
  })

  it('is never one that takes long to search for', async () => {
    const text = 'a'.repeat(2 * MAX_SEARCH_LENGTH)
    assert.equal(await containsWord(text, 'a'.repeat(MAX_SEARCH_LENGTH)), true)
    assert.equal(await containsWord(text, 'a'.repeat(MAX_SEARCH_LENGTH + 1)), false)
  })

  it('lets others have their turn', async () => {
    const pieces = Array.from({ length: 16 }, () => '写'.repeat(100_000))
    for (const search of [
      () => containsWord('x'.repeat(16 * PIECE), 'y'),
      () => containsWordIn(pieces, 'y'),
    ]) {
      const turns = await turnsDuring(async () => assert.equal(await search(), false))
      assert.ok(turns >= 15, `${turns} turns`)
    }
  })
})
