import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freeBytes, handOver, lend } from '../../src/lib/read-bytes.ts'

describe('freeBytes()', () => {
  it('frees what was handed over, at once and whatever the garbage collector does', () => {
    const before = process.memoryUsage().arrayBuffers
    for (let count = 0; count < 1000; count++) {
      const bytes = Buffer.alloc(64 * 1024)
      handOver(bytes)
      freeBytes(bytes)
      assert.equal(bytes.length, 0)
    }
    assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 20)
  })

  it('also through another view of the same bytes', () => {
    const bytes = Buffer.alloc(64 * 1024)
    handOver(bytes)
    freeBytes(new Uint8Array(bytes.buffer))
    assert.equal(bytes.length, 0)
  })

  it('leaves alone what somebody else may have', () => {
    const [kept, whole] = [Buffer.alloc(8192), Buffer.alloc(8192)]
    freeBytes(kept)
    handOver(whole.subarray(1))
    freeBytes(whole)
    handOver(whole)
    freeBytes(whole.subarray(1))
    const small = Buffer.from('of the pool that small buffers share')
    handOver(small)
    freeBytes(small)
    assert.deepEqual([kept.length, whole.length, small.length], [8192, 8192, 36])
  })

  it('gives back what was lent, once, and leaves it as it is', () => {
    const whole = Buffer.alloc(8192)
    const part = whole.subarray(0, 4096)
    let times = 0
    lend(part, () => (times += 1))
    freeBytes(whole.subarray(0, 4096))
    assert.equal(times, 0)
    freeBytes(part)
    freeBytes(part)
    assert.deepEqual([times, part.length], [1, 4096])
  })
})
