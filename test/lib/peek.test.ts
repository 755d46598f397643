import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { peek } from '../../src/lib/peek.ts'
import fc from '../support/property.ts'

async function* chunksOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

async function concat(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describe('peek()', () => {
  it('shows the beginning and loses nothing, however the bytes are cut', async () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(chunks, fc.nat({ max: 100 }), async (parts, length) => {
        const all = Buffer.concat(parts)
        const { head, bytes } = await peek(chunksOf(parts), length)
        assert.deepEqual(Buffer.from(head), all.subarray(0, length))
        assert.deepEqual(await concat(bytes), all)
      }),
    )
  })

  it('passes a failure of the source on, early and late', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(4)
      throw new Error('cable pulled')
    }
    await assert.rejects(peek(broken(), 8), /cable/)
    const { bytes } = await peek(broken(), 2)
    await assert.rejects(concat(bytes), /cable/)
  })

  it('lets the source clean up when the reader leaves early', async () => {
    let isCleanedUp = false
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield new Uint8Array(4)
      } finally {
        isCleanedUp = true
      }
    }
    const { bytes } = await peek(source(), 6)
    for await (const chunk of bytes) if (chunk.length > 0) break
    assert.equal(isCleanedUp, true)
  })
})
