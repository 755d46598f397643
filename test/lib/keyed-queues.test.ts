import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { KeyedQueues } from '../../src/lib/keyed-queues.ts'
import { defer } from '../support/defer.ts'

describe('KeyedQueues', () => {
  it('runs the work of one key in turn, and that of another one meanwhile', async () => {
    const queues = new KeyedQueues()
    const ended: string[] = []
    const { promise, resolve } = defer<void>()
    const first = queues.run('a', () => promise).then(() => ended.push('a1'))
    const second = queues.run('a', async () => undefined).then(() => ended.push('a2'))
    await queues.run('b', async () => undefined).then(() => ended.push('b'))
    resolve()
    await Promise.all([first, second])
    assert.deepEqual(ended, ['b', 'a1', 'a2'])
  })

  it('goes on after work that failed', async () => {
    const queues = new KeyedQueues()
    const failed = queues.run('a', () => Promise.reject(new Error('no')))
    const next = queues.run('a', async () => 'next')
    await assert.rejects(failed, { message: 'no' })
    assert.equal(await next, 'next')
  })
})
