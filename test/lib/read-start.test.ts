import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readStart, type Openable } from '../../src/lib/read-start.ts'

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

describe('readStart()', () => {
  it('reads so many bytes, or all there are', async () => {
    assert.equal(String(Buffer.from(await readStart(bytes('hello'), 4))), 'hell')
    assert.equal(String(Buffer.from(await readStart(bytes('hello'), 64))), 'hello')
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
