import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Item } from '../../../src/core/item.ts'
import { deriveSecrets } from '../../../src/peers/bus/circle-key.ts'
import { Sealer } from '../../../src/peers/bus/sealer.ts'
import { encodeSignal, type Signal } from '../../../src/peers/bus/signal.ts'
import { defer } from '../../support/defer.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { sha256 } from '../../support/hashes.ts'
import { MemoryPrivateFile } from '../../support/memory-private-file.ts'
import { settle, TestCircle, type BusMember } from './support/bus-member.ts'

const texts = (members: readonly BusMember[]) => members.map(({ text }) => text)

/** Enough for answers and questions, and too little for a beacon. */
const SOON_MS = 5000

/** In it everybody who has something to say has said it. */
const RARELY_MS = 400_000

/** Three members, each with a beacon, an answer, a question and a save to come. */
const MAX_TIMERS = 12

async function startThree() {
  const clock = new FakeClock()
  const group = new TestCircle(clock)
  const [a, b, c] = [await group.start('a'), await group.start('b'), await group.start('c')]
  await pass(clock)
  return { group, clock, a, b, c, all: [a, b, c] }
}

/** Lets time pass, and what comes of it happen. */
async function pass(clock: FakeClock, ms = SOON_MS): Promise<void> {
  clock.advance(ms)
  await settle()
}

/** Copies a text, and lets all who are on the bus hear of it. */
async function copy(member: BusMember, text: string): Promise<void> {
  member.copy(text)
  await settle()
}

/** What a member of this group that is no other says of an item that nobody has. */
function signalOf(sealer: Sealer, kind: Signal['kind'], at: number, index = 255): Uint8Array {
  const origin = `m_${index.toString(16).padStart(16, '0')}`
  const contentId = `blake3v1:${'00'.repeat(32)}` as const
  const item = { contentId, stamp: { at, member: 'm_ffffffffffffffff' } }
  const url = 'http://x.example'
  return sealer.seal(encodeSignal({ kind, origin, epoch: 1, time: 0, url, item }))
}

type Twin = Partial<Item>

function inOrder(a: Twin, b: Twin, rank: (item: Twin) => string): readonly [Twin, Twin] {
  return rank(a) < rank(b) ? [a, b] : [b, a]
}

const warnings = ({ logger }: BusMember) =>
  logger.lines.filter(({ level }) => level === 'warn').length

describe('a member of a group on a bus', () => {
  it('gets what is copied elsewhere, once, and does not announce what it got', async () => {
    const { group, a, b, c, all } = await startThree()
    const before = group.broker.published.length
    await copy(a, 'one')
    assert.deepEqual(texts(all), ['one', 'one', 'one'])
    assert.equal(group.broker.published.length, before + 1, 'only a has something to tell')
    await copy(b, 'two')
    assert.deepEqual(texts(all), ['two', 'two', 'two'])
    const [one, two] = ['one from http://a.example', 'two from http://b.example']
    assert.deepEqual([a.pulls, b.pulls, c.pulls], [[two], [one], [one, two]])
  })

  it('announces what came to it in another way', async () => {
    const { group, a, b, c } = await startThree()
    b.put('over a link', { at: 5_000_000_000_000, member: 'm_00000000000000ff' })
    await settle()
    assert.deepEqual(texts([a, c]), ['over a link', 'over a link'])
    assert.ok(group.broker.published.length > 0, 'something was published')
  })

  it('asks once it is connected again, and gets what happened meanwhile, the newest only', async () => {
    const { clock, a, b, c, all } = await startThree()
    c.bus.cut()
    assert.deepEqual([c.group.status.state, c.group.status.error], ['waiting', 'cut by the test'])
    await copy(a, 'missed')
    await copy(b, 'the newest')
    assert.deepEqual(c.pulls, [])
    c.bus.reconnect()
    await pass(clock)
    assert.deepEqual(texts(all), ['the newest', 'the newest', 'the newest'])
    assert.equal(c.pulls.length, 1)
    assert.deepEqual([c.group.status.state, c.group.status.error], ['connected', undefined])
  })

  it('gives what it copied while it was cut off, when that is the newest', async () => {
    const { clock, a, c, all } = await startThree()
    c.bus.cut()
    a.copy('older')
    clock.advance(10)
    c.copy('newer')
    c.bus.reconnect()
    await settle()
    assert.deepEqual(texts(all), ['newer', 'newer', 'newer'])
  })

  it('learns from signals by how much its clock is behind, and wins with what it copies apart later', async () => {
    const clock = new FakeClock()
    const group = new TestCircle(clock)
    const ahead = await group.start('a', { aheadMs: 86_400_000 })
    const behind = await group.start('b')
    await pass(clock)
    behind.bus.cut()
    ahead.copy('earlier')
    clock.advance(60_000)
    behind.copy('later')
    behind.bus.reconnect()
    await pass(clock)
    assert.deepEqual(texts([ahead, behind]), ['later', 'later'])
  })

  it('is told by whoever is not behind, when what it announces is older', async () => {
    const { clock, a, b, c, all } = await startThree()
    c.bus.cut()
    c.copy('older')
    clock.advance(10)
    await copy(a, 'newer')
    c.bus.reconnect()
    await settle()
    assert.deepEqual(texts([a, b]), ['newer', 'newer'])
    await pass(clock)
    assert.deepEqual(texts(all), ['newer', 'newer', 'newer'])
  })

  it('notices a signal that was lost by the next one of that member', async () => {
    const { group, clock, a, b, all } = await startThree()
    await copy(a, 'seen')
    group.broker.isLossy = true
    clock.advance(10)
    a.copy('lost')
    group.broker.isLossy = false
    const published = group.broker.published.length
    a.put('after it', { at: clock.now() + 1000, member: 'm_0000000000000001' })
    await settle()
    assert.deepEqual(texts(all), ['after it', 'after it', 'after it'])
    clock.advance(SOON_MS)
    assert.ok(group.broker.published.length > published + 1, 'somebody asked')
    assert.equal(b.pulls.at(-1), 'after it from http://a.example')
  })

  it('finds what was lost with no signal after it, by a beacon', async () => {
    const { group, clock, a, all } = await startThree()
    group.broker.isLossy = true
    a.copy('lost')
    await pass(clock)
    assert.deepEqual(texts(all), ['lost', undefined, undefined])
    group.broker.isLossy = false
    await pass(clock, RARELY_MS)
    assert.deepEqual(texts(all), ['lost', 'lost', 'lost'])
  })

  it('speaks rarely while nothing happens, however many there are', async () => {
    const clock = new FakeClock()
    const group = new TestCircle(clock)
    for (let index = 0; index < 30; index += 1) {
      await group.start(`m${index}`, { random: () => index / 30 })
      clock.advance(SOON_MS)
    }
    clock.advance(RARELY_MS)
    const before = group.broker.published.length
    clock.advance(3_600_000)
    const perMinute = (group.broker.published.length - before) / 60
    // Each would speak once a minute.
    assert.ok(perMinute > 1 && perMinute < 12, `${perMinute} signals a minute`)
    const [first] = group.members.values()
    assert.equal(first?.group.status.members, 29)
  })

  it('has a timer for each thing to do, and none once it is closed', async () => {
    const { clock, all, a } = await startThree()
    await copy(a, 'x')
    assert.ok(clock.pending <= MAX_TIMERS, `${clock.pending} timers`)
    await Promise.all(all.map((member) => member.group.close()))
    assert.equal(clock.pending, 0)
    for (const { bus } of all) assert.ok(bus.isClosed, 'the bus is closed')
  })

  it('drops what is repeated, or comes too late, and what it said itself', async () => {
    const { group, clock, a, b, all } = await startThree()
    await copy(a, 'one')
    await copy(b, 'two')
    const seen = [...group.broker.published]
    const pulls = all.map((member) => [member.pulls.length, 0])
    for (const signal of [...seen, ...seen].reverse()) {
      for (const { bus } of all) bus.deliver(signal)
    }
    await settle()
    await pass(clock)
    const after = all.map((member) => [member.pulls.length, member.group.status.refused])
    assert.deepEqual(after, pulls, 'nobody pulls, and nobody refuses')
    assert.equal(group.broker.published.length, seen.length, 'nobody answers')
  })

  it('refuses signals of an earlier start of another member, also after its own start', async () => {
    const { group, clock, a, b } = await startThree()
    const before = group.broker.published.length
    a.copy('of the earlier start')
    const old = group.broker.published.slice(before)
    await a.group.close()
    const again = await group.start('a', { file: a.file })
    again.put('now', { at: clock.now() + 1, member: 'm_0000000000000001' })
    await settle()
    await pass(clock)
    await b.group.close()
    const back = await group.start('b', { file: b.file })
    await pass(clock)
    back.put('b has this', { at: clock.now() + 2, member: 'm_0000000000000002' })
    await settle()
    clock.advance(SOON_MS)
    const published = group.broker.published.length
    for (const signal of old) back.bus.deliver(signal)
    await pass(clock)
    assert.equal(old.length, 1)
    assert.equal(group.broker.published.length, published, 'it does not answer to it')
  })

  for (const which of ['later', 'earlier'] as const) {
    it(`takes a new name when its data directory was copied, and the copy has the ${which} start`, async () => {
      const { group, clock, a: first, b } = await startThree()
      const old = String(first.file.text)
      await first.group.close()
      await (await group.start('a', { file: first.file })).group.close()
      const a = await group.start('a', { file: first.file })
      const file = new MemoryPrivateFile(which === 'later' ? String(a.file.text) : old)
      const copied = await group.start('copy', { file })
      await pass(clock)
      const renamed = which === 'later' ? a : copied
      await settle()
      assert.notEqual(JSON.parse(String(a.file.text)).member, JSON.parse(String(file.text)).member)
      assert.equal(warnings(renamed), 1)
      for (const [from, word] of [
        [a, 'of the first'],
        [copied, 'of the copy'],
      ] as const) {
        clock.advance(SOON_MS)
        await copy(from, word)
        await pass(clock)
        assert.deepEqual([a.text, b.text, copied.text], [word, word, word])
      }
      assert.deepEqual([a.group.status.error, copied.group.status.error], [undefined, undefined])
    })
  }

  it('counts what was not sealed with its key, and tells nobody else', async () => {
    const { group, a } = await startThree()
    const { subject } = group.secrets
    const other = new Sealer({ ...deriveSecrets(Buffer.alloc(32, 2)), subject })
    const noSignal = new Sealer(group.secrets).seal(Buffer.from('no signal'))
    const strange = [other.seal(Buffer.from('{}')), Buffer.alloc(0), Buffer.alloc(100), noSignal]
    for (const bytes of strange) a.bus.deliver(bytes)
    assert.equal(a.group.status.refused, 4)
    assert.equal(warnings(a), 1, 'it is logged once')
  })

  it('neither gets nor answers what is stamped too far ahead, says so, and goes on', async () => {
    const { group, clock, a, all } = await startThree()
    await copy(a, 'ours')
    await pass(clock)
    const sealer = new Sealer(group.secrets)
    const tell = (at: number): void => {
      const signal = signalOf(sealer, 'have', at)
      for (const { bus } of all) bus.deliver(signal)
    }
    const before = group.broker.published.length
    tell(100_000_000_000_000)
    tell(99_999_999_999_999)
    await pass(clock)
    assert.equal(group.broker.published.length, before)
    assert.deepEqual(texts(all), ['ours', 'ours', 'ours'])
    for (const member of all) {
      assert.match(String(member.group.status.error), /too far ahead/)
      assert.equal(warnings(member), 1, 'it is logged once')
    }
    tell(1)
    await settle()
    for (const member of all) assert.equal(member.group.status.error, undefined)
    await copy(a, 'and on')
    assert.deepEqual(texts(all), ['and on', 'and on', 'and on'])
  })

  it('that has kept an item from far ahead gives way to whatever is copied', async () => {
    const { clock, b, all } = await startThree()
    for (const member of all) {
      member.put('frozen', { at: 100_000_000_000_000, member: 'm_ffffffffffffffff' })
    }
    await pass(clock)
    await copy(b, 'thawed')
    assert.deepEqual(texts(all), ['thawed', 'thawed', 'thawed'])
    for (const member of all) assert.equal(member.group.status.error, undefined)
  })

  /** Two items of one stamp, in the order that all agree on. */
  const TWINS: Readonly<Record<string, readonly [Twin, Twin]>> = {
    'that differ': inOrder({ text: 'one' }, { text: 'other' }, ({ text = '' }) => sha256(text)),
    'of the same bytes that have two names': inOrder(
      { type: 'File', dataName: 'a.txt' },
      { type: 'File', dataName: 'b.txt' },
      ({ type, dataName }) => sha256(`${type}|${dataName}`),
    ),
  }
  for (const [kind, [earlier, later]] of Object.entries(TWINS)) {
    it(`takes of two items of one stamp ${kind} the one that all take, whatever came first`, async () => {
      for (const [first, second] of [
        [earlier, later],
        [later, earlier],
      ] as const) {
        const { clock, a, b, all } = await startThree()
        const stamp = { at: clock.now() + 1000, member: 'm_00000000000000ff' }
        const put = async (member: BusMember, { text = 'bytes', ...file }: Twin) => {
          member.put(text, stamp, file)
          await settle()
        }
        await put(a, first)
        await put(b, second)
        await pass(clock)
        const { text = 'bytes', dataName = '' } = later
        for (const { current } of all) {
          assert.deepEqual([current?.item.text, current?.item.dataName], [text, dataName])
        }
        const pulls = all.map((member) => member.pulls.length)
        await pass(clock, RARELY_MS)
        assert.deepEqual(
          all.map((member) => member.pulls.length),
          pulls,
          'nobody goes on',
        )
        await Promise.all(all.map(({ group }) => group.close()))
      }
    })
  }

  it('logs a trouble that comes and goes once in ten minutes, and how often it was left out', async () => {
    const { group, clock, a } = await startThree()
    const sealer = new Sealer(group.secrets)
    for (let index = 0; index < 20; index += 1) {
      a.bus.deliver(signalOf(sealer, 'have', 100_000_000_000_000))
      a.bus.deliver(signalOf(sealer, 'have', 1))
    }
    assert.equal(warnings(a), 1)
    clock.advance(600_000)
    a.bus.deliver(signalOf(sealer, 'have', 100_000_000_000_000))
    assert.equal(warnings(a), 2)
    assert.equal(a.logger.lines.at(-1)?.fields['leftOut'], 19)
  })

  it('writes down whom it has heard of as soon as its disk takes it', async () => {
    const { group, clock, a } = await startThree()
    a.file.failure = new Error('the disk is full')
    const d = await group.start('d')
    await pass(clock)
    a.file.failure = undefined
    await pass(clock, 60_000)
    const { member } = JSON.parse(String(d.file.text))
    const known: readonly { readonly origin: string }[] = JSON.parse(String(a.file.text)).known
    assert.ok(
      known.some(({ origin }) => origin === member),
      'it is known',
    )
  })

  it('asks again, less and less often, for what nobody could give', async () => {
    const { group, clock, a } = await startThree()
    let attempts = 0
    const d = await group.start('d', {
      random: () => 0.99,
      pull: async () => {
        attempts += 1
        throw new Error('The server takes too long')
      },
    })
    a.copy('x')
    const asked: number[] = []
    for (let second = 0; second < 300; second += 1) {
      await settle()
      if (attempts > asked.length) asked.push(second)
      clock.advance(1000)
    }
    assert.equal(d.group.status.error, 'The server takes too long')
    assert.ok(attempts > 5 && attempts < 40, `${attempts} attempts`)
    const pauses = asked.map((second, index) => second - (asked[index - 1] ?? 0))
    assert.ok(Math.max(...pauses) <= 40, `${pauses.join(' ')} seconds`)
  })

  it('does not go on asking for what it has got, and calls otherwise than its source', async () => {
    const { group, clock, a } = await startThree()
    let asks = 0
    await group.start('d', {
      pull: async (offer) => {
        asks += 1
        if (offer.next() === undefined) throw new Error('Nobody has the item any more')
      },
    })
    await copy(a, 'x')
    for (let second = 0; second < 300; second += 1) await pass(clock, 1000)
    assert.ok(asks > 1 && asks < 20, `${asks} times`)
  })

  it('lets go of what it pulls when something newer is there', async () => {
    const { group, clock, a } = await startThree()
    const begun = defer<void>()
    const pulled: string[] = []
    const d = await group.start('d', {
      pull: (offer, { signal }) => {
        pulled.push(offer.item.contentId)
        begun.resolve()
        return new Promise((_resolve, reject) => {
          if (signal.aborted) reject(signal.reason)
          signal.addEventListener('abort', () => reject(signal.reason))
        })
      },
    })
    a.copy('large')
    await begun.promise
    clock.advance(10)
    await copy(a, 'newer')
    assert.deepEqual([pulled.length, new Set(pulled).size], [2, 2])
    await d.group.close()
    assert.equal(d.group.status.error, undefined)
  })

  it('stays small in a flood, of its own group as well', async () => {
    const { group, clock, a } = await startThree()
    await pass(clock)
    const before = group.broker.published.length
    a.copy('x')
    for (let index = 0; index < 3000; index += 1) {
      a.bus.deliver(signalOf(new Sealer(group.secrets), 'ask', 1, index))
    }
    assert.ok(clock.pending <= MAX_TIMERS, `${clock.pending} timers`)
    assert.equal(a.group.status.members, 1024)
    await pass(clock)
    assert.ok(group.broker.published.length - before < 10, 'it does not answer each')
    await pass(clock, 10_000)
    assert.ok((a.file.text?.length ?? 0) < 100_000, 'what it remembers is bounded')
  })
})
