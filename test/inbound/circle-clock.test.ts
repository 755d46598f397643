import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MAX_AHEAD_MS, MAX_APART_MS } from '../../src/core/circle-time.ts'
import { DomainError } from '../../src/core/domain-error.ts'
import { CircleClock, parseMemberFile } from '../../src/inbound/circle-clock.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { MemoryPrivateFile } from '../support/memory-private-file.ts'
import fc, { forAll, forAllAsync } from '../support/property.ts'

const DAY_MS = 86_400_000

async function openClock(text?: string) {
  const file = new MemoryPrivateFile(text)
  const deps = { file, clock: new FakeClock(), logger: new CaptureLogger() }
  return { ...deps, group: await CircleClock.open(deps) }
}

describe('the time of the group', () => {
  it('is that of the own clock for a member that has met nobody', async () => {
    const { group, clock, file } = await openClock()
    assert.equal(group.now(), clock.now())
    clock.jump(-DAY_MS)
    assert.equal(group.now(), clock.now())
    await group.close()
    assert.equal(file.text, undefined)
  })

  it('is that of the clock that is furthest ahead, and goes on with the own one', async () => {
    const { group, clock } = await openClock()
    group.learn(clock.now() + DAY_MS)
    group.learn(clock.now() + 5)
    group.learn(clock.now() - DAY_MS)
    assert.equal(group.now(), clock.now() + DAY_MS)
    clock.advance(1000)
    assert.equal(group.now(), clock.now() + DAY_MS)
  })

  it('is kept over a restart', async () => {
    const { group, clock, file } = await openClock()
    group.learn(clock.now() + DAY_MS)
    // While the first is being written.
    group.learn(clock.now() + 2 * DAY_MS)
    await group.close()
    assert.equal(file.text, '{"aheadMs":172800000}\n')
    const again = await openClock(file.text)
    assert.equal(again.group.now(), again.clock.now() + 2 * DAY_MS)
  })

  it('is not written again for the drift of clocks', async () => {
    const { group, clock, file } = await openClock()
    group.learn(clock.now() + 5000)
    await group.close()
    group.learn(clock.now() + 5900)
    await group.close()
    assert.equal(file.text, '{"aheadMs":5000}\n')
    assert.equal(group.now(), clock.now() + 5900)
  })

  it('is not that of clocks that went mad', async () => {
    const { group, clock } = await openClock()
    const tooFar = clock.now() + MAX_AHEAD_MS + MAX_APART_MS + 1
    for (const at of [tooFar, 99_999_999_999_999, NaN, Infinity, -Infinity, -1]) {
      group.learn(at)
      assert.equal(group.now(), clock.now(), String(at))
    }
    group.learn(clock.now() + MAX_AHEAD_MS)
    assert.equal(group.now(), clock.now() + MAX_AHEAD_MS)
  })

  it('is ten years ahead at most, however often somebody says more, and after restarts too', async () => {
    let text: string | undefined
    for (let start = 0; start < 5; start += 1) {
      const { group, clock, file } = await openClock(text)
      for (let step = 0; step < 5; step += 1) group.learn(group.now() + MAX_APART_MS)
      group.learn(group.now() + MAX_AHEAD_MS)
      assert.ok(group.now() <= clock.now() + MAX_AHEAD_MS, `start ${start}`)
      await group.close()
      text = file.text
    }
    const { group, clock } = await openClock(text)
    group.learn(clock.now() + MAX_AHEAD_MS + MAX_APART_MS)
    assert.equal(group.now(), clock.now() + MAX_AHEAD_MS)
    await group.close()
  })

  it('is one in which members believe the stamps of each other, whatever they were told', () => {
    const DAYS = fc.integer({ min: -30 * DAY_MS, max: 0 })
    const told = fc.array(fc.tuple(fc.nat(1), fc.integer({ min: 0, max: 20 * 366 })), {
      maxLength: 10,
    })
    return forAllAsync(DAYS, told, async (behind, tellings) => {
      const [a, b] = [await openClock(), await openClock()]
      b.clock.jump(behind)
      for (const [whom, days] of tellings) {
        const { group } = whom === 0 ? a : b
        group.learn(a.clock.now() + days * DAY_MS)
      }
      assert.ok(b.group.believes(a.group.now()), 'the stamp of a is believed')
      assert.ok(a.group.believes(b.group.now()), 'the stamp of b is believed')
      await Promise.all([a.group.close(), b.group.close()])
    })
  })

  it('bounds what a stamp may have, and a clock of 1970 does not keep honest ones out', async () => {
    const { group, clock } = await openClock()
    const furthest = clock.now() + MAX_AHEAD_MS + MAX_APART_MS
    assert.deepEqual([furthest, furthest + 1].map(group.believes), [true, false])
    assert.equal(group.believes(100_000_000_000_000), false)
    clock.jump(-clock.now())
    assert.equal(group.believes(Date.UTC(2035, 0, 1)), true)
    assert.equal(group.believes(Date.UTC(2037, 0, 1)), false)
    clock.jump(200_000_000_000_000)
    assert.equal(group.believes(100_000_000_000_000), false)
  })

  it('is the same on all members once each has heard of each, in whatever order', () => {
    const events = fc.array(fc.tuple(fc.nat(4), fc.nat(4)), { maxLength: 60 })
    const offset = fc.integer({ min: -DAY_MS, max: DAY_MS })
    const offsets = fc.array(offset, { minLength: 5, maxLength: 5 })
    return forAllAsync(offsets, events, async (clocks, tellings) => {
      const members = await Promise.all(
        clocks.map(async (ahead) => {
          const member = await openClock()
          member.clock.jump(ahead)
          return member.group
        }),
      )
      const around = [...members.keys(), ...members.keys()].map((n) => [n, (n + 1) % 5] as const)
      for (const [from, to] of [...tellings, ...around]) {
        members[to]?.learn(members[from]?.now() ?? NaN)
      }
      const furthest = new FakeClock().now() + Math.max(...clocks)
      for (const member of members) assert.equal(member.now(), furthest)
    })
  })

  it('tells of a clock that is far ahead once, and of no others', async () => {
    const { group, clock, logger } = await openClock()
    group.learn(clock.now() + 59_000)
    assert.equal(logger.text, '')
    group.learn(clock.now() + DAY_MS)
    group.learn(clock.now() + DAY_MS + 10)
    const told = logger.lines.map(({ level, fields }) => [level, fields])
    assert.deepEqual(told, [['info', { seconds: 86_400 }]])
    await group.close()
  })

  it('is learnt anew where its file is damaged, or cannot be read or written', async () => {
    const damaged = await openClock('{"aheadMs":"secret"}')
    assert.equal(damaged.group.now(), damaged.clock.now())
    assert.match(damaged.logger.text, /Cannot read member\.json/)
    assert.doesNotMatch(damaged.logger.text, /secret/)
    damaged.group.learn(damaged.clock.now() + DAY_MS)
    await damaged.group.close()
    assert.equal(damaged.file.text, '{"aheadMs":86400000}\n')

    const { group, file, clock, logger } = await openClock()
    file.failure = new DomainError('DATA_DIRECTORY_UNUSABLE', 'Cannot use it')
    group.learn(clock.now() + DAY_MS)
    await group.close()
    assert.match(logger.text, /Cannot write member\.json/)
    file.failure = undefined
    group.learn(clock.now() + DAY_MS + 1)
    await group.close()
    assert.equal(file.text, '{"aheadMs":86400001}\n')
  })
})

describe('member.json', () => {
  it('is read as it was written', () =>
    forAll(fc.integer({ min: 0, max: MAX_AHEAD_MS }), (aheadMs) => {
      assert.deepEqual(parseMemberFile(JSON.stringify({ aheadMs })), aheadMs)
    }))

  it('is refused when it is anything else, without being quoted', () => {
    const record = fc.record({ aheadMs: fc.jsonValue() }).map((value) => JSON.stringify(value))
    const values = fc.oneof(fc.string(), fc.json(), record)
    forAll(values, (text) => {
      try {
        const aheadMs = parseMemberFile(text)
        assert.ok(aheadMs >= 0 && aheadMs <= MAX_AHEAD_MS, 'it is within bounds')
      } catch (error) {
        assert.ok(error instanceof TypeError, 'no other error')
      }
    })
    assert.throws(() => parseMemberFile('{"aheadMs":-1}'), { message: /aheadMs/ })
  })
})
