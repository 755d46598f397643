import assert from 'node:assert/strict'
import { it } from 'node:test'
import { measureText } from '../../src/lib/long-text.ts'
import fc, { forAllAsync } from '../support/property.ts'

it('knows how long a text is as a string and in JSON, whatever is escaped there', async () => {
  const parts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\x00', '\x1f', '\x7f', '\n', '\b', '"', '\\', '߿', 'ࠀ', '😀'),
  )
  await forAllAsync(fc.array(parts), async (all) => {
    const text = all.join('').toWellFormed()
    const jsonLength = Buffer.byteLength(JSON.stringify(text)) - 2
    const { length } = text
    assert.deepEqual(await measureText(Buffer.from(text), jsonLength), { length, jsonLength })
    assert.equal(await measureText(Buffer.from(text), jsonLength - 1), undefined)
  })
})
