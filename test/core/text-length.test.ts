import assert from 'node:assert/strict'
import { it } from 'node:test'
import { jsonLengthOf } from '../../src/core/item.ts'
import fc, { forAll } from '../support/property.ts'

it('knows how long a text is in JSON, whatever is escaped there', () => {
  const parts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\x00', '\x1f', '\x7f', '\n', '\b', '"', '\\', '߿', 'ࠀ', '😀'),
  )
  forAll(fc.array(parts), (all) => {
    const text = all.join('').toWellFormed()
    assert.equal(jsonLengthOf(Buffer.from(text)), Buffer.byteLength(JSON.stringify(text)) - 2)
  })
})
