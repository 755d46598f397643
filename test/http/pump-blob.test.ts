import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { blockSize, pumpBlob } from '../../src/http/pump-blob.ts'

const KIB = 1024

describe('downloads at the same time', () => {
  it('have large blocks while they are few, and never less than 64 KiB', () => {
    for (const few of [1, 6, 16]) assert.equal(blockSize(few), 768 * KIB)
    assert.equal(blockSize(17) < 768 * KIB, true)
    for (const many of [192, 1000, 1_000_000]) assert.equal(blockSize(many), 64 * KIB)
  })

  it('take no more than a few dozen MiB, and 128 KiB each beyond that', () => {
    let bytes = 0
    for (let count = 1; count <= 1000; count++) bytes += 2 * blockSize(count)
    assert.equal(bytes < 192 * KIB * KIB, true, `${bytes}`)
  })

  it('come whole in blocks of any size', async () => {
    const content = Buffer.from('0123456789')
    const blob = {
      read: async (target: Uint8Array, position: number) => content.copy(target, 0, position),
      close: async () => undefined,
    }
    for (const size of [1, 3, 4, 9, 10, 11]) {
      const pieces: string[] = []
      const write = async (chunk: Uint8Array): Promise<void> => {
        assert.equal(chunk.length <= size, true, `${chunk.length}`)
        pieces.push(Buffer.from(chunk).toString())
      }
      await pumpBlob(blob, { start: 1, end: 9 }, write, size)
      assert.equal(pieces.join(''), '12345678')
    }
  })
})
