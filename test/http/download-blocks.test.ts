import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DownloadBlocks, pumpBlob } from '../../src/http/download-blocks.ts'

const KIB = 1024

describe('downloads at the same time', () => {
  it('have large blocks while they are few, and never less than 64 KiB', () => {
    const blocks = new DownloadBlocks()
    const sizes = Array.from({ length: 1000 }, () => blocks.begin('a').bytes)
    assert.deepEqual([...new Set(sizes.slice(0, 16))], [768 * KIB])
    assert.equal((sizes[16] ?? 0) < 768 * KIB, true)
    assert.deepEqual([...new Set(sizes.slice(191))], [64 * KIB])
  })

  it('take no more than a few dozen MiB, and 128 KiB each beyond that', () => {
    for (const clients of [1, 10, 1000]) {
      const blocks = new DownloadBlocks()
      let bytes = 0
      for (let count = 0; count < 1000; count++)
        bytes += 2 * blocks.begin(`${count % clients}`).bytes
      assert.equal(bytes < 192 * KIB * KIB, true, `${bytes} for ${clients} clients`)
    }
  })

  it('have large blocks also while another client reads none of its hundreds', () => {
    const blocks = new DownloadBlocks()
    for (let count = 0; count < 500; count++) blocks.begin('greedy')
    const block = blocks.begin('other')
    assert.equal(block.bytes, 768 * KIB)
    block.release()
    assert.equal(blocks.begin('other').bytes, 768 * KIB)
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
