import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  encodeWithText,
  prepareText,
  preparedBytes,
  shareText,
  withText,
} from '../../src/lib/long-text.ts'
import fc from '../support/property.ts'
import { turnsDuring } from '../support/turns-during.ts'

const PIECE = 2 ** 20

function encoded(subject: { readonly text: string }): string {
  const result = encodeWithText(subject, ({ text }) => JSON.stringify([{ text }, text]))
  return typeof result === 'string' ? result : Buffer.concat(result.pieces).toString()
}

describe('JSON with a long text', () => {
  it('is that of the text in one go, wherever it is cut', async () => {
    const units = ['🧀', '"', '\\', '\n', '写', 'x']
    const ends = fc.array(fc.constantFrom(...units), { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(ends, ends, fc.nat(4), fc.boolean(), async (before, after, back, ready) => {
        const text = 'x'.repeat(PIECE - back) + before.join('') + after.join('')
        const subject = { text }
        if (ready) await prepareText(subject)
        // Compared as one boolean: a difference of a megabyte is nothing to print.
        assert.ok(encoded(subject) === JSON.stringify([subject, text]))
      }),
      { numRuns: 30 },
    )
  })

  it('has a text that is more than a few KiB as JSON in memory once, however often it is given', () => {
    const subject = { text: '\u0001'.repeat(5000) }
    const parts = [1, 2].map(() => {
      const json = encodeWithText(subject, ({ text }) => JSON.stringify({ text }))
      return typeof json === 'string' ? json : json.pieces.find(({ length }) => length === 30_000)
    })
    assert.ok(parts[0] instanceof Uint8Array)
    assert.equal(parts[0], parts[1])
  })

  it('keeps none of the body but the text, where that is the smaller part', async () => {
    const utf8 = new Uint8Array(PIECE).subarray(0, 5000).fill(0x78)
    const text = await withText(utf8, { length: 5000, jsonLength: 5000 })
    const json = encodeWithText(text, ({ text }) => JSON.stringify({ text }))
    assert.ok(typeof json === 'object')
    const kept = json.pieces.map(({ buffer }) => buffer.byteLength)
    assert.ok(Math.max(...kept) < PIECE, `${kept} bytes`)
  })

  it('is in memory once where another one is the same, which one of another length is not', async () => {
    const [item, document, other] = [10_000, 10_000, 10_001].map((n) => ({ text: 'é'.repeat(n) }))
    assert.ok(item && document && other)
    await prepareText(item)
    shareText(document, item)
    shareText(other, item)
    assert.deepEqual([preparedBytes(document), preparedBytes(other)], [20_002, undefined])
    assert.equal(document.text, item.text)
  })

  it('is given up where it becomes too long', async () => {
    const texts: readonly (readonly [string, number])[] = [
      ['"', 4],
      ['"'.repeat(2 * PIECE), 4 * PIECE + 2],
    ]
    for (const [text, length] of texts) {
      assert.equal(await prepareText({ text }, length - 1), false)
      const subject = { text }
      assert.equal(await prepareText(subject, length), true)
      assert.equal(await prepareText(subject, length - 1), false)
    }
  })

  it('lets others have their turn', async () => {
    const turns = await turnsDuring(() => prepareText({ text: 'x'.repeat(16 * PIECE) }))
    assert.ok(turns >= 15, `${turns} turns`)
  })
})
