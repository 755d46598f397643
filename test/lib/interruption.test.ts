import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Interruption } from '../../src/lib/semaphore.ts'

const REASON = new Error('enough')

async function* count(last: number, onClosed: () => void = () => {}): AsyncGenerator<number> {
  try {
    for (let number = 1; number <= last; number++) yield number
  } finally {
    onClosed()
  }
}

it('an Interruption lets through what ends before it', async () => {
  const interruption = new Interruption()
  assert.equal(await interruption.guard(Promise.resolve('done')), 'done')
  const failed = interruption.guard(Promise.reject(new Error('failed')))
  await assert.rejects(failed, { message: 'failed' })
  assert.deepEqual(await collect(interruption.guardAll(count(3))), [1, 2, 3])
})

it('an Interruption ends the waiting for what never comes, and for what is asked for afterwards', async () => {
  const interruption = new Interruption()
  const never = interruption.guard(new Promise(() => {}))
  interruption.interrupt(REASON)
  interruption.interrupt(new Error('too late'))
  await assert.rejects(never, REASON)
  await assert.rejects(interruption.guard(Promise.resolve('there')), REASON)
})

it('an Interruption ends a stream whose next item never comes', async () => {
  const interruption = new Interruption()
  async function* stuck(): AsyncGenerator<number> {
    yield 1
    await new Promise(() => {})
  }
  const items = interruption.guardAll(stuck())[Symbol.asyncIterator]()
  assert.equal((await items.next()).value, 1)
  const next = items.next()
  interruption.interrupt(REASON)
  await assert.rejects(next, REASON)
})

it('an Interruption closes the source of a stream that it ends', async () => {
  const interruption = new Interruption()
  let isClosed = false
  const items = interruption.guardAll(count(3, () => (isClosed = true)))[Symbol.asyncIterator]()
  await items.next()
  interruption.interrupt(REASON)
  await assert.rejects(items.next(), REASON)
  assert.equal(isClosed, true)
})

it('an Interruption closes the source of whoever leaves early', async () => {
  let isClosed = false
  for await (const _ of new Interruption().guardAll(count(3, () => (isClosed = true)))) break
  assert.equal(isClosed, true)
})

async function collect(items: AsyncIterable<number>): Promise<number[]> {
  const all: number[] = []
  for await (const item of items) all.push(item)
  return all
}
