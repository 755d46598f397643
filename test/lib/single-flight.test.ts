import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SingleFlight } from '../../src/lib/single-flight.ts'

/** Work that the test ends, and counts. */
function controlled() {
  const ends: ((value: number) => void)[] = []
  const work = (): Promise<number> => new Promise((resolve) => ends.push(resolve))
  return { work, ends }
}

describe('SingleFlight', () => {
  it('shares one run between callers with the same key', async () => {
    const { work, ends } = controlled()
    const flights = new SingleFlight<string, number>()
    const both = Promise.all([flights.run('a', work), flights.run('a', work)])
    assert.equal(ends.length, 1)
    ends[0]?.(7)
    assert.deepEqual(await both, [7, 7])
  })

  it('runs different keys side by side', () => {
    const { work, ends } = controlled()
    const flights = new SingleFlight<string, number>()
    void flights.run('a', work)
    void flights.run('b', work)
    assert.equal(ends.length, 2)
  })

  it('runs again once a run has ended', async () => {
    const flights = new SingleFlight<string, number>()
    assert.equal(await flights.run('a', async () => 1), 1)
    assert.equal(await flights.run('a', async () => 2), 2)
  })

  it('fails all who share a failed run, and none after it', async () => {
    const flights = new SingleFlight<string, number>()
    const fail = (): Promise<number> => Promise.reject(new Error('no'))
    const both = await Promise.allSettled([flights.run('a', fail), flights.run('a', fail)])
    assert.deepEqual(
      both.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    assert.equal(await flights.run('a', async () => 3), 3)
  })
})
