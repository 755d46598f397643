import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
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

it('Semaphore lets go of who gives up while waiting, in whose place the next one has a turn', async () => {
  const semaphore = new Semaphore(1)
  const giveUp = new AbortController()
  let end = (): void => {}
  const first = semaphore.run(() => new Promise<void>((resolve) => (end = resolve)))
  const work = (): Promise<never> => assert.fail('nobody waits for it')
  const second = assert.rejects(semaphore.run(work, giveUp.signal), /given up/)
  const third = semaphore.run(async () => 3)
  giveUp.abort(new Error('given up'))
  await second
  end()
  assert.deepEqual(await Promise.all([first, third]), [undefined, 3])
  await assert.rejects(semaphore.run(work, giveUp.signal), /given up/)
  assert.equal(await semaphore.run(async () => 4), 4)
})

it('Semaphore tells when all has ended, also after a failure', async () => {
  const semaphore = new Semaphore(1)
  await semaphore.idle()
  const log: string[] = []
  const failing = semaphore.run(async () => {
    await setImmediate()
    log.push('done')
    throw new Error('no')
  })
  await Promise.all([semaphore.idle(), assert.rejects(failing, /no/)])
  assert.deepEqual(log, ['done'])
})
