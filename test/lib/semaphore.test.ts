import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Semaphore } from '../../src/lib/semaphore.ts'

it('Semaphore lets so many run at a time, and the rest in turn', async () => {
  const semaphore = new Semaphore(2)
  const began: number[] = []
  const ends: (() => void)[] = []
  const runs = [0, 1, 2, 3].map((n) =>
    semaphore.run(() => {
      began.push(n)
      return new Promise<void>((resolve) => ends.push(resolve))
    }),
  )
  assert.deepEqual(began, [0, 1])
  ends[1]?.()
  await runs[1]
  assert.deepEqual(began, [0, 1, 2])
  for (const end of ends) end()
  await runs[2]
  for (const end of ends) end()
  await Promise.all(runs)
  assert.deepEqual(began, [0, 1, 2, 3])
})

it('Semaphore goes on after a failure, and hands results on', async () => {
  const semaphore = new Semaphore(1)
  const failed = semaphore.run(() => Promise.reject(new Error('no')))
  const next = semaphore.run(async () => 7)
  await assert.rejects(failed, /no/)
  assert.equal(await next, 7)
})
