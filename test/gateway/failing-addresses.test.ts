import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as tick } from 'node:timers/promises'
import { FailingAddresses } from '../../src/gateway/failing-addresses.ts'
import { FakeClock } from '../support/fake-clock.ts'

const ADDRESS = '192.0.2.7'

function setUp() {
  const clock = new FakeClock()
  return { clock, failing: new FailingAddresses(clock) }
}

/** How long a refusal is held back. */
async function delayOf(
  { clock, failing }: ReturnType<typeof setUp>,
  address = ADDRESS,
): Promise<number> {
  const start = clock.monotonic()
  let end: number | undefined
  const held = failing.holdBack(address).then((isHeld) => {
    assert.equal(isHeld, true)
    end = clock.monotonic()
  })
  await tick()
  while (end === undefined) {
    clock.advance(1)
    await tick()
  }
  await held
  return end - start
}

describe('the refusals of an address', () => {
  // Protocol: An address whose requests keep being refused is told so ever later
  it('are told ever later, by half a second at most', async () => {
    const at = setUp()
    const delays = []
    for (let refusal = 0; refusal < 12; refusal++) delays.push(await delayOf(at))
    assert.deepEqual(delays, [0, 0, 0, 0, 0, 16, 32, 64, 128, 256, 500, 500])
  })

  it('are forgiven one by one, and forgotten after a minute', async () => {
    const at = setUp()
    for (let refusal = 0; refusal < 8; refusal++) await delayOf(at)
    at.clock.advance(2000)
    assert.equal(await delayOf(at), 32)
    for (let refusal = 0; refusal < 200; refusal++) await delayOf(at)
    at.clock.advance(60_000)
    assert.equal(await delayOf(at), 0)
  })

  it('do not care about a wall clock that jumps', async () => {
    const at = setUp()
    for (let refusal = 0; refusal < 10; refusal++) await delayOf(at)
    at.clock.jump(86_400_000)
    assert.equal(await delayOf(at), 500)
    at.clock.jump(-2 * 86_400_000)
    assert.equal(await delayOf(at), 500)
  })

  it('are told apart when they come together', async () => {
    const { clock, failing } = setUp()
    for (let refusal = 0; refusal < 20; refusal++) void failing.holdBack(ADDRESS)
    clock.advance(500)
    await tick()
    for (let refusal = 0; refusal < 64; refusal++) void failing.holdBack(ADDRESS)
    const told: number[] = []
    for (let millisecond = 0; millisecond < 500; millisecond++) {
      const before = clock.pending
      clock.advance(1)
      told.push(before - clock.pending)
    }
    assert.equal(Math.max(...told), 2)
    assert.equal(told.findIndex((count) => count > 0) > 375, true, 'a quarter earlier at most')
    assert.equal(clock.pending, 0)
  })
})

describe('the runs of an address', () => {
  // Protocol: Wrong credentials of one address may cost sixty verifications at once
  it('are sixty, and one more each second', () => {
    const { clock, failing } = setUp()
    const take = (): number => {
      let count = 0
      while (failing.takeRun(ADDRESS)) count++
      return count
    }
    assert.equal(take(), 60)
    clock.advance(1000)
    assert.equal(take(), 1)
    clock.advance(999)
    assert.equal(take(), 0)
    clock.advance(60_000)
    assert.equal(take(), 60)
    assert.equal(failing.takeRun('192.0.2.8'), true)
  })

  it('come back when nothing is to be said against them', () => {
    const { failing } = setUp()
    for (let run = 0; run < 200; run++) {
      assert.equal(failing.takeRun(ADDRESS), true)
      failing.giveRunBack(ADDRESS)
    }
    failing.giveRunBack(ADDRESS)
    for (let run = 0; run < 60; run++) assert.equal(failing.takeRun(ADDRESS), true)
    assert.equal(failing.takeRun(ADDRESS), false)
  })

  it('are forgotten for the address that failed longest ago, beyond a thousand', () => {
    const { failing } = setUp()
    const spend = (address: string) => {
      for (let run = 0; run < 60; run++) failing.takeRun(address)
    }
    for (let index = 0; index < 1025; index++) spend(`10.0.${index >> 8}.${index & 255}`)
    assert.equal(failing.takeRun('10.0.4.0'), false)
    assert.equal(failing.takeRun('10.0.0.0'), true)
  })
})
