import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turnOfEvents } from 'node:timers/promises'
import { MAX_AHEAD_MS, MAX_APART_MS } from '../../src/core/circle-time.ts'
import { DomainError } from '../../src/core/domain-error.ts'
import { CircleClock, parseMemberFile } from '../../src/inbound/circle-clock.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { MemoryPrivateFile } from '../support/memory-private-file.ts'
import fc, { forAll, forAllAsync } from '../support/property.ts'

const MINUTE_MS = 60_000
const HOUR_MS: number = 60 * MINUTE_MS
const DAY_MS: number = 24 * HOUR_MS

type TestMember = Awaited<ReturnType<typeof openClock>>

/** Starts a member on a machine whose clock begins ahead of the others', or behind them. */
async function openClock(text?: string, aheadMs = 0) {
  const clock = new FakeClock()
  clock.jump(aheadMs)
  let asleepMs = 0
  const uptime = (): number => (clock.monotonic() + asleepMs) / 1000
  const file = new MemoryPrivateFile(text)
  const deps = { file, clock, uptime, logger: new CaptureLogger() }
  return {
    ...deps,
    group: await CircleClock.open(deps),
    restart: () => CircleClock.open(deps),
    /** The wall clock goes on, and the monotonic one stands still. */
    sleep: (ms: number): void => {
      asleepMs += ms
      clock.jump(ms)
    },
  }
}

/** By how much the circle is ahead, as it is kept. */
const keptOf = (text?: string): number | undefined =>
  text === undefined ? undefined : parseMemberFile(text).aheadMs

/** Both hear what time it is by the other. */
function meet(a: TestMember, b: TestMember): void {
  a.group.learn(b.group.now())
  b.group.learn(a.group.now())
}

describe('the time of the group', () => {
  it('is that of the own clock for a member that has met nobody', async () => {
    const { group, clock, file } = await openClock()
    assert.equal(group.now(), clock.now())
    clock.jump(DAY_MS)
    assert.equal(group.now(), clock.now())
    await group.close()
    assert.equal(file.text, undefined)
  })

  it('goes on when the own clock is set back, until the next start', async () => {
    const { group, clock, file, restart } = await openClock()
    group.learn(clock.now() + 5000)
    clock.jump(DAY_MS)
    clock.advance(1000)
    const before = group.now()
    clock.jump(-DAY_MS)
    assert.equal(group.now(), before)
    clock.advance(1000)
    group.learn(before + 900)
    assert.equal(group.now(), before + 1000)
    // Set forward again, it is no further ahead than it was.
    clock.jump(DAY_MS)
    assert.equal(group.now(), before + 1000)
    clock.jump(-DAY_MS)
    group.learn(before + 6000)
    assert.equal(group.now(), before + 6000)
    await group.close()
    assert.equal(keptOf(file.text), 5000)
    assert.equal((await restart()).now(), clock.now() + 5000)
  })

  it('is not carried ahead by a clock that is behind at each boot until it is put right', async () => {
    const other = await openClock()
    let text: string | undefined
    for (let boot = 0; boot < 4; boot += 1) {
      const board = await openClock(text, -3 * DAY_MS)
      meet(board, other)
      assert.equal(board.group.now(), other.clock.now())
      await board.group.close()
      assert.equal(keptOf(board.file.text), 3 * DAY_MS)
      board.clock.jump(3 * DAY_MS)
      // A boot that is over before anyone asks for the time, too.
      if (boot % 2 === 0) meet(board, other)
      await board.group.close()
      text = board.file.text
      assert.equal(keptOf(text), 0, `boot ${boot}`)
      assert.equal(other.group.now(), other.clock.now(), `boot ${boot}`)
    }
  })

  it('is carried ahead once by a clock that is ahead at each boot until it is put right', async () => {
    const other = await openClock()
    let text: string | undefined
    for (let boot = 0; boot < 5; boot += 1) {
      const desk = await openClock(text, 2 * HOUR_MS)
      // It hears the others before, or after.
      if (boot % 2 === 0) meet(desk, other)
      desk.clock.jump(-2 * HOUR_MS)
      meet(desk, other)
      assert.equal(desk.group.now(), other.group.now())
      assert.equal(other.group.now(), other.clock.now() + 2 * HOUR_MS, `boot ${boot}`)
      await desk.group.close()
      text = desk.file.text
      assert.equal(text, undefined, `boot ${boot}`)
    }
  })

  it('is not carried ahead by a clock that is put right between two starts', async () => {
    for (const [wrong, carried] of [
      [-3 * DAY_MS, 0],
      [2 * HOUR_MS, 2 * HOUR_MS],
    ] as const) {
      const other = await openClock()
      let text: string | undefined
      for (let start = 0; start < 6; start += 1) {
        const member = await openClock(text, start % 2 === 0 ? wrong : 0)
        meet(member, other)
        await member.group.close()
        text = member.file.text
        assert.equal(other.group.now(), other.clock.now() + carried, `${wrong} at start ${start}`)
      }
    }
  })

  it('goes on as before after a sleep, also when the clock is set in it', async () => {
    const { group, clock, file, sleep } = await openClock()
    group.learn(clock.now() + HOUR_MS)
    sleep(8 * HOUR_MS)
    assert.equal(group.now(), clock.now() + HOUR_MS)
    sleep(8 * HOUR_MS)
    clock.jump(20 * MINUTE_MS)
    assert.equal(group.now(), clock.now() + 40 * MINUTE_MS)
    sleep(8 * HOUR_MS)
    clock.jump(-10 * MINUTE_MS)
    assert.equal(group.now(), clock.now() + 50 * MINUTE_MS)
    await group.close()
    assert.equal(keptOf(file.text), 40 * MINUTE_MS)
  })

  it('is ten years ahead of a clock that is set back at most', async () => {
    const { group, clock } = await openClock()
    group.learn(clock.now() + MAX_AHEAD_MS - HOUR_MS)
    clock.jump(-DAY_MS)
    assert.equal(group.now(), clock.now() + MAX_AHEAD_MS)
    await group.close()
  })

  it('advances as real time does, but for what is told and what the own clock says', () => {
    const kinds = ['wait', 'step', 'sleep', 'learn', 'look', 'restart'] as const
    const event = fc.tuple(fc.constantFrom(...kinds), fc.integer({ min: -20_000, max: 20_000 }))
    return forAllAsync(fc.array(event, { maxLength: 40 }), async (events) => {
      const { clock, uptime, sleep, restart, ...started } = await openClock()
      let { group } = started
      let [expected, seenAt] = [clock.now(), uptime()]
      const expect = (told = 0): number => {
        expected = Math.max(expected + (uptime() - seenAt) * 1000, clock.now(), told)
        seenAt = uptime()
        return expected
      }
      const look = (): void => assert.equal(group.now(), expect())
      const start = clock.now()
      for (const [kind, value] of events) {
        const minutes = value * MINUTE_MS
        if (kind === 'wait') clock.advance(Math.abs(value) * 1000)
        if (kind === 'step') clock.jump(minutes)
        if (kind === 'sleep') {
          look()
          sleep(Math.abs(minutes))
          look()
        }
        if (kind === 'learn') {
          const told = start + uptime() * 1000 + minutes
          group.learn(told)
          expect(told)
        }
        if (kind === 'look') look()
        if (kind === 'restart') {
          await group.close()
          group = await restart()
          const most = expect()
          expected = group.now()
          assert.ok(expected >= clock.now() && expected <= most, 'it is no further ahead')
        }
      }
      look()
      await group.close()
    })
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
    assert.equal(keptOf(file.text), 172800000)
    const again = await openClock(file.text)
    assert.equal(again.group.now(), again.clock.now() + 2 * DAY_MS)
  })

  it('goes on by the time for which the machine has run, whatever the own clock says', async () => {
    const { group, clock, file, restart } = await openClock()
    group.learn(clock.now() + 2 * DAY_MS)
    await group.close()
    clock.advance(HOUR_MS)
    assert.equal((await restart()).now(), clock.now() + 2 * DAY_MS)
    clock.jump(DAY_MS)
    assert.equal((await restart()).now(), clock.now() + DAY_MS)
    // How long a machine has been on again is known, also after it was off.
    const booted = await openClock(file.text, HOUR_MS)
    booted.clock.advance(MINUTE_MS)
    const { at = NaN } = parseMemberFile(file.text ?? '')
    assert.equal((await booted.restart()).now(), at + MINUTE_MS)
  })

  it('is kept six times an hour, so that a machine that loses its power loses no more of it', async () => {
    const { group, clock, file, restart } = await openClock()
    group.learn(clock.now() + HOUR_MS)
    for (let look = 0; look < 10; look += 1) {
      clock.advance(10 * MINUTE_MS + 1)
      group.now()
      for (let turn = 0; turn < 20; turn += 1) await turnOfEvents()
    }
    clock.advance(MINUTE_MS)
    assert.equal((await restart()).now(), clock.now() + HOUR_MS, 'a kill takes nothing')
    const booted = await openClock(file.text, clock.now() - new FakeClock().now())
    assert.equal(booted.group.now(), clock.now() + HOUR_MS - MINUTE_MS)
    await group.close()
  })

  it('is not tried to be kept at each look where its file cannot be written', async () => {
    const { group, clock, file, logger } = await openClock()
    file.failure = new DomainError('DATA_DIRECTORY_UNUSABLE', 'Cannot use it')
    group.learn(clock.now() + 5000)
    for (let look = 0; look < 10; look += 1) {
      clock.advance(1000)
      group.now()
      for (let turn = 0; turn < 20; turn += 1) await turnOfEvents()
    }
    assert.equal(logger.lines.length, 1)
    file.failure = undefined
    await group.close()
    assert.equal(keptOf(file.text), 5000)
  })

  it('is not written again for the drift of clocks, before the end', async () => {
    const { group, clock, file } = await openClock()
    group.learn(clock.now() + 5000)
    while (file.text === undefined) await turnOfEvents()
    group.learn(clock.now() + 5900)
    clock.jump(-900)
    group.learn(clock.now() + 5950)
    clock.jump(900)
    assert.equal(group.now(), clock.now() + 5950)
    await turnOfEvents()
    assert.equal(keptOf(file.text), 5000)
    clock.advance(HOUR_MS)
    await group.close()
    const kept = { aheadMs: 5950, at: clock.now() + 5950, uptimeMs: HOUR_MS }
    assert.deepEqual(parseMemberFile(file.text), kept)
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
      const [a, b] = [await openClock(), await openClock(undefined, behind)]
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
        clocks.map(async (ahead) => (await openClock(undefined, ahead)).group),
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
    clock.jump(2 * DAY_MS)
    group.learn(clock.now() + DAY_MS)
    assert.equal(logger.lines.length, 2, 'once more after the clock was set')
    await group.close()
  })

  it('is told to the log a few times only, however often another member moves it', async () => {
    const { group, clock, logger } = await openClock()
    for (let minutes = 2; minutes <= 2000; minutes += 2) {
      group.learn(clock.now() + minutes * MINUTE_MS)
    }
    const told = logger.lines.map(({ fields }) => Number(fields?.['seconds']) / 60)
    assert.deepEqual(told, [2, 6, 14, 30, 62, 126, 254, 510, 1022])
  })

  it('is learnt anew where its file is damaged, or cannot be read or written', async () => {
    const damaged = await openClock('{"aheadMs":"secret"}')
    assert.equal(damaged.group.now(), damaged.clock.now())
    assert.match(damaged.logger.text, /Cannot read member\.json/)
    assert.doesNotMatch(damaged.logger.text, /secret/)
    damaged.group.learn(damaged.clock.now() + DAY_MS)
    await damaged.group.close()
    assert.equal(keptOf(damaged.file.text), 86400000)

    const { group, file, clock, logger } = await openClock()
    file.failure = new DomainError('DATA_DIRECTORY_UNUSABLE', 'Cannot use it')
    group.learn(clock.now() + DAY_MS)
    await group.close()
    assert.match(logger.text, /Cannot write member\.json/)
    file.failure = undefined
    group.learn(clock.now() + DAY_MS + 1)
    await group.close()
    assert.equal(keptOf(file.text), 86400001)
  })
})

describe('member.json', () => {
  it('is read as it was written', () =>
    forAll(fc.integer({ min: 0, max: MAX_AHEAD_MS }), fc.maxSafeNat(), (aheadMs, at) => {
      const kept = { aheadMs, at, uptimeMs: at }
      assert.deepEqual(parseMemberFile(JSON.stringify(kept)), kept)
      // Earlier versions say no more than that.
      assert.equal(parseMemberFile(JSON.stringify({ aheadMs })).aheadMs, aheadMs)
    }))

  it('is refused when it is anything else, without being quoted', () => {
    const record = fc.record({ aheadMs: fc.jsonValue() }).map((value) => JSON.stringify(value))
    const values = fc.oneof(fc.string(), fc.json(), record)
    forAll(values, (text) => {
      try {
        const { aheadMs } = parseMemberFile(text)
        assert.ok(aheadMs >= 0 && aheadMs <= MAX_AHEAD_MS, 'it is within bounds')
      } catch (error) {
        assert.ok(error instanceof TypeError, 'no other error')
      }
    })
    assert.throws(() => parseMemberFile('{"aheadMs":-1}'), { message: /aheadMs/ })
  })
})
