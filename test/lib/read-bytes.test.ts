import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { blocksOf, peek, readStart, readWhole, type Openable } from '../../src/lib/read-bytes.ts'
import fc, { forAllAsync } from '../support/property.ts'

function bytes(text: string, closed: string[] = []): Openable {
  return {
    open: async () => ({
      read: async (target, position) => {
        const piece = Buffer.from(text).subarray(position, position + target.length)
        target.set(piece)
        return piece.length
      },
      close: async () => void closed.push(text),
    }),
  }
}

const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

async function collect<Value>(values: AsyncIterable<Value>): Promise<readonly Value[]> {
  const collected: Value[] = []
  for await (const value of values) collected.push(value)
  return collected
}

describe('readStart()', () => {
  it('reads up to the given number of bytes', async () => {
    assert.equal(toText(await readStart(bytes('hello'), 4)), 'hell')
    assert.equal(toText(await readStart(bytes('hello'), 64)), 'hello')
    assert.equal((await readStart(bytes(''), 64)).length, 0)
  })

  it('closes what it opened, also when it cannot read', async () => {
    const closed: string[] = []
    await readStart(bytes('hello', closed), 4)
    const broken: Openable = {
      open: async () => ({
        read: () => Promise.reject(new Error('gone')),
        close: async () => void closed.push('broken'),
      }),
    }
    await assert.rejects(readStart(broken, 4), /gone/)
    assert.deepEqual(closed, ['hello', 'broken'])
  })
})

describe('blocksOf()', () => {
  const sized = (text: string, closed: string[] = []) => ({
    ...bytes(text, closed),
    size: text.length,
  })

  it('yields all bytes in order, each block with memory of its own', async () => {
    const blocks = (await collect(blocksOf(sized('hello world'), { blockSize: 4 }))).map(toText)
    assert.deepEqual(blocks, ['hell', 'o wo', 'rld'])
    assert.equal(toText(await readWhole(sized('hello'))), 'hello')
  })

  it('yields a range', async () => {
    const range = { blockSize: 3, start: 1, end: 5 }
    const blocks = (await collect(blocksOf(sized('hello'), range))).map(toText)
    assert.deepEqual(blocks, ['ell', 'o'])
  })

  it('ends where the bytes end, and closes what it opened, also when nobody reads on', async () => {
    const closed: string[] = []
    const short = { ...sized('hi', closed), size: 9 }
    const blocks = await collect(blocksOf(short, { blockSize: 4 }))
    assert.equal(Buffer.concat(blocks).length, 2)
    for await (const _ of blocksOf(sized('hello', closed), { blockSize: 1 })) break
    assert.deepEqual(closed, ['hi', 'hello'])
  })
})

async function* streamOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

describe('peek()', () => {
  it('shows the beginning and loses nothing, however the bytes are cut', async () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 })
    await forAllAsync(chunks, fc.nat({ max: 100 }), async (parts, length) => {
      const all = Buffer.concat(parts)
      const { head, bytes } = await peek(streamOf(parts), length)
      assert.deepEqual(Buffer.from(head), all.subarray(0, length))
      assert.deepEqual(Buffer.concat(await collect(bytes)), all)
    })
  })

  it('passes a failure of the source on, early and late', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(4)
      throw new Error('cable pulled')
    }
    await assert.rejects(peek(broken(), 8), /cable/)
    const { bytes } = await peek(broken(), 2)
    await assert.rejects(collect(bytes), /cable/)
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
