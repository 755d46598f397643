import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import type { NatsConnection } from '@nats-io/transport-node'
import {
  deriveSecrets,
  parseCircleKey,
  type CircleSecrets,
} from '../../../src/peers/bus/circle-key.ts'
import { Sealer } from '../../../src/peers/bus/sealer.ts'
import { encodeSignal } from '../../../src/peers/bus/signal.ts'
import { MIB } from '../../../src/core/limits.ts'
import type { BusStatus } from '../../../src/ports/bus.ts'
import { byNight } from '../../support/night.ts'
import { needs } from '../../support/requirements.ts'
import { arrives, isText, type MemberDaemon, restart } from '../support/daemons.ts'
import { busOf, logItems, logs, newKey, startOnBus } from './support/bus-daemons.ts'
import { connectTester, startBroker } from './support/nats-broker.ts'

/** What members publish, as the broker sees it. */
function tap(connection: NatsConnection, subject: string): Uint8Array[] {
  const signals: Uint8Array[] = []
  connection.subscribe(subject, {
    callback: (_error, { data }) => void signals.push(Uint8Array.from(data)),
  })
  return signals
}

/** Two members on a bus, and what is said there. */
async function openPair(t: TestContext) {
  const broker = await startBroker(t)
  const key = newKey()
  const { subject } = deriveSecrets(parseCircleKey(key))
  const tester = await connectTester(t, broker)
  const signals = tap(tester, subject)
  await tester.flush()
  const { url } = broker
  const [a, b] = [await startOnBus(t, { key, url }), await startOnBus(t, { key, url })]
  return { broker, subject, tester, signals, a, b }
}

/** Resolves once a member has refused as many signals: by then it has handled all before them. */
async function refuses(member: MemberDaemon, count: number): Promise<BusStatus> {
  for (;;) {
    const bus = await busOf(member)
    if (bus.refused >= count) return bus
  }
}

describe('a broker that is not to be trusted', needs('nats-server'), () => {
  it('sees no content and no address, and gains nothing by repeating or reordering signals', async (t) => {
    const { subject, tester, signals, a, b } = await openPair(t)
    const seen = await Promise.all([a, b].map((member) => logItems(t, member)))
    const order: string[] = []
    const share = async (member: MemberDaemon, text: string): Promise<void> => {
      await member.phone.pushText(text)
      const contentId = String((await arrives(member, isText(text))).contentId)
      order.push(contentId)
      await Promise.all(seen.map((log) => log.has(contentId)))
    }
    for (const [index, member] of [a, b, a, b, a].entries())
      await share(member, `a secret text ${index}`)
    await tester.flush()
    const captured = [...signals]
    assert.ok(captured.length >= 5, `${captured.length} signals`)
    const all = Buffer.concat(captured).toString('latin1')
    assert.doesNotMatch(all, /secret|http|127\.0\.0\.1|have|ask/)

    // As they were, twice, and backwards; and one that nobody can open, to know when they were seen.
    for (const signal of [...captured, ...captured, ...captured.reverse()])
      tester.publish(subject, signal)
    tester.publish(subject, randomBytes(100))
    await tester.flush()
    for (const member of [a, b]) {
      const { error, refused } = await refuses(member, 1)
      assert.deepEqual([error, refused], [undefined, 1])
    }
    await share(b, 'the end')
    for (const { ids } of seen) assert.deepEqual(ids, order)
  })

  it('cannot make a member believe what another one said before its last start', async (t) => {
    const { broker, subject, tester, signals, a, b } = await openPair(t)
    await a.daemon.stop()
    await b.phone.pushText('that nobody has any more')
    await arrives(b, isText('that nobody has any more'))
    await tester.flush()
    const old = [...signals]
    assert.ok(old.length > 0, 'there is something to repeat')
    await b.daemon.stop()
    await rm(join(b.daemon.folder, 'data', 'item.json'))

    // Both are started again: a hears of that start of b, and is started once more.
    const bus = ['--bus', broker.url]
    const between = { ...a, daemon: await restart(t, a, bus) }
    const sender = { ...b, daemon: await restart(t, b, bus) }
    while ((await busOf(between)).members !== 1);
    await between.daemon.stop()
    const member = { ...a, daemon: await restart(t, a, bus) }
    await logs(member, /Connected to the bus/)
    for (const signal of old) tester.publish(subject, signal)
    tester.publish(subject, randomBytes(100))
    await tester.flush()
    assert.equal((await refuses(member, 1)).error, undefined)
    await sender.phone.pushText('the end')
    await arrives(member, isText('the end'))
    assert.doesNotMatch(member.daemon.stderr(), /Cannot get an item/)
  })

  it('that lets a slow member go has it back, in step', async (t) => {
    const broker = await startBroker(t, {
      config: 'write_deadline: "200ms"\nmax_payload: 8192\nmax_pending: 16777216\n',
    })
    const key = newKey()
    const { subject } = deriveSecrets(parseCircleKey(key))
    const { url } = broker
    const [a, b] = [await startOnBus(t, { key, url }), await startOnBus(t, { key, url })]
    const tester = await connectTester(t, broker)
    b.daemon.child.kill('SIGSTOP')
    let isSlow = false
    const noticed = broker.logs(/Slow Consumer Detected/).then(() => (isSlow = true))
    const garbage = randomBytes(3000)
    while (!isSlow) {
      for (let index = 0; index < 100; index += 1) tester.publish(subject, garbage)
      await tester.flush()
    }
    await noticed
    await a.phone.pushText('meanwhile')
    b.daemon.child.kill('SIGCONT')
    await arrives(b, isText('meanwhile'))
    await logs(b, /Connected to the bus/, 2)
  })

  it('cannot make a member grow with a flood, of its own group or not', async (t) => {
    const broker = await startBroker(t)
    const key = newKey()
    const secrets = deriveSecrets(parseCircleKey(key))
    const a = await startOnBus(t, { key, url: broker.url })
    await a.phone.pushText('x')
    const tester = await connectTester(t, broker)
    let refused = 0
    const flood = async (): Promise<void> => {
      for (let index = 0; index < COUNT; index += 1) {
        const isValid = index % 2 === 0
        tester.publish(secrets.subject, isValid ? validSignal(index, secrets) : randomBytes(SIZE))
        refused += Number(!isValid)
        if (index % 500 === 0) await tester.flush()
      }
      await refuses(a, refused)
    }
    // Once, so that everything that is made once is there.
    await flood()
    const before = residentBytes(a.daemon.ready.pid)
    for (let round = 0; round < FLOODS; round += 1) await flood()
    const grown = residentBytes(a.daemon.ready.pid) - before
    assert.ok(grown < BOUND, `it grew by ${(grown / MIB).toFixed(1)} MiB`)
    assert.equal((await busOf(a)).state, 'connected')
    await a.phone.pushText('still here')
  })

  it('would be caught by that measure, if signals were kept', async (t) => {
    assert.ok((await growthOfHoarder(t)) > BOUND, 'it is too coarse')
  })
})

/** Signals of a flood, and the bytes of each. */
const COUNT = 10_000
const SIZE = 3500

const FLOODS = byNight(6, { byDay: 3 })

/** A third of what that many have: a heap grows and shrinks by some ten MiB of its own accord. */
const BOUND: number = 64 * MIB

/** As long as one may be, of one of many members, about an item that is older than any. */
function validSignal(index: number, secrets: CircleSecrets): Uint8Array {
  const origin = `m_${(index % 3000).toString(16).padStart(16, '0')}`
  const contentId = `blake3v1:${'00'.repeat(32)}` as const
  const item = { contentId, stamp: { at: 1, member: origin } }
  const url = `http://a.example/${'x'.repeat(1000)}`
  const signal = { kind: 'ask', origin, epoch: 1 + index, time: 0, url, item } as const
  return new Sealer(secrets).seal(encodeSignal(signal))
}

function residentBytes(pid: number): number {
  const [, kib = ''] =
    /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}

/** A program that keeps what a flood has. */
async function growthOfHoarder(t: TestContext): Promise<number> {
  const code = `
    const kept = []
    process.stdin.on('data', () => {
      for (let index = 0; index < ${FLOODS * COUNT}; index += 1) kept.push(require('crypto').randomBytes(${SIZE}))
      console.log('kept')
    })
    console.log('ready')`
  const child = spawn(process.execPath, ['-e', code], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })
  await once(lines, 'line')
  const before = residentBytes(child.pid ?? 0)
  child.stdin.write('go\n')
  await once(lines, 'line')
  return residentBytes(child.pid ?? 0) - before
}
