import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GrowingBuffer } from '../../src/lib/growing-buffer.ts'
import fc, { forAll } from '../support/property.ts'

describe('GrowingBuffer', () => {
  it('holds what was appended, in order, however it was cut', () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 100_000 }), { maxLength: 8 })
    forAll(chunks, (pieces) => {
      const buffer = new GrowingBuffer()
      for (const piece of pieces) buffer.append(piece)
      assert.deepEqual(Buffer.from(buffer.filled), Buffer.concat(pieces))
    })
  })

  it('copies: what becomes of a chunk afterwards is of no matter', () => {
    const buffer = new GrowingBuffer()
    const chunk = Buffer.from('hello')
    buffer.append(chunk)
    chunk.fill(0)
    assert.equal(Buffer.from(buffer.filled).toString(), 'hello')
  })
})
