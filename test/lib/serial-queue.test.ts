import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { SerialQueue } from '../../src/lib/serial-queue.ts'

describe('SerialQueue', () => {
  it('runs one work at a time, in order', async () => {
    const queue = new SerialQueue()
    const log: string[] = []
    const work = (name: string) => async (): Promise<string> => {
      log.push(`${name} starts`)
      await setImmediate()
      log.push(`${name} ends`)
      return name
    }
    const results = await Promise.all([queue.run(work('a')), queue.run(work('b'))])
    assert.deepEqual(results, ['a', 'b'])
    assert.deepEqual(log, ['a starts', 'a ends', 'b starts', 'b ends'])
  })

  it('goes on after work that failed', async () => {
    const queue = new SerialQueue()
    const failing = queue.run(() => Promise.reject(new Error('no')))
    const next = queue.run(async () => 7)
    await assert.rejects(failing, /no/)
    assert.equal(await next, 7)
  })

  it('tells when it is idle, also after a failure', async () => {
    const queue = new SerialQueue()
    await queue.idle()
    const log: string[] = []
    const failing = queue.run(async () => {
      await setImmediate()
      log.push('done')
      throw new Error('no')
    })
    await Promise.all([queue.idle(), assert.rejects(failing, /no/)])
    assert.deepEqual(log, ['done'])
  })
})
