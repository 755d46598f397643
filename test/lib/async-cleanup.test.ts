import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { describe, it } from 'node:test'
import { AsyncCleanup } from '../../src/lib/async-cleanup.ts'

describe('AsyncCleanup', () => {
  it('runs every step once, last first', async () => {
    const ran: number[] = []
    const cleanup = new AsyncCleanup()
    cleanup.add(() => void ran.push(1))
    cleanup.add(async () => void ran.push(2))
    await cleanup.run()
    await cleanup.run()
    assert.deepEqual(ran, [2, 1])
  })

  it('lets whoever asks again wait for the same run', async () => {
    const ran: number[] = []
    const slow = new EventEmitter()
    const cleanup = new AsyncCleanup()
    cleanup.add(() => void ran.push(2))
    cleanup.add(async () => {
      await once(slow, 'over')
      ran.push(1)
    })
    const runs = Promise.all([cleanup.run(), cleanup.run().then(() => ran.push(3))])
    slow.emit('over')
    await runs
    assert.deepEqual(ran, [1, 2, 3])
  })

  it('goes on after a failure, and then reports the first one', async () => {
    const ran: number[] = []
    const cleanup = new AsyncCleanup()
    cleanup.add(() => void ran.push(1))
    cleanup.add(() => Promise.reject(new Error('first')))
    await assert.rejects(cleanup.run(), /first/)
    assert.deepEqual(ran, [1])
  })
})
