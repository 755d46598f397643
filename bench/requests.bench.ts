/**
 * How many small requests a second, and how many events, beside bare servers that only send the same
 * bytes? (B1, B2) And what does a request on a connection of its own cost, as the shortcuts of phones
 * make it? (B22)
 *
 * By the clock, and by processor time of the server, which says more on a busy machine. The bare
 * server has all in its memory, and no login.
 * @module
 */

import { join } from 'node:path'
import type { AsyncCleanup } from '../src/lib/async-cleanup.ts'
import { RawClient } from '../test/support/raw-http.ts'
import { startTwin, type Question } from './support/bare-twin.ts'
import { bench, type BenchContext } from './support/bench.ts'
import { setUpDaemon, startDaemon, type Daemon, type DaemonSetup } from './support/daemon.ts'
import { EVENT_STREAM, HUB, openStreams } from './support/event-streams.ts'
import { prepareSite, startAudience, timePush, type Audience } from './support/fan-out.ts'
import { findLoadTool } from './support/load.ts'
import { startBaseline } from './support/processes.ts'
import { readCpuSeconds, usageMissing } from './support/process-usage.ts'
import { alternate, contender, isQuick, timed } from './support/rounds.ts'
import { explain, judge, skip, type Explanation, type Row, type Subject } from './support/row.ts'

const ROUNDS = isQuick ? 2 : 7
const SECONDS = isQuick ? 1 : 2

/** Requests of a round that have a connection of their own, and how many of them are under way. */
const ANEW = isQuick ? 1000 : 5000
const CLIENTS = 8

/** With two streams each. */
const DEVICES = isQuick ? 25 : 250
const PUSHES = isQuick ? 10 : 40

/** An ordinary copied text. */
const TEXT = 'Grüße aus dem Büro: https://example.org/a?b=c\n'.repeat(4)

/** A small picture; letters, since the twin is told in text. */
const FILE = { name: 'small.txt', text: 'clipgate'.repeat(2048) } as const

const BARE = 'bare node:http'

const tool = findLoadTool()

void bench(async (context) => {
  const { cleanup, folder } = context
  const setup = await setUpDaemon(join(folder, 'daemon'))
  const header = `Authorization: ${setup.authorization}`
  const document = await race(cleanup, setup, { path: '/Sync.json', header })
  const anew = await race(cleanup, setup, { path: '/Sync.json', header }, connectAnew)
  const probe = await race(cleanup, setup, { path: '/healthz', header: undefined })
  const file = await race(cleanup, setup, { path: `/file/${FILE.name}`, header })
  const note = `with ${tool.name}`
  return [
    judge('B1', { ...ratesOf(document), note }),
    ...explainCost('B1', 'processor time of one request', document),
    judge('B2', { ...ratesOf(probe), note }),
    ...explainCost('B2', 'processor time of one request', probe),
    usageMissing === undefined
      ? judge('B22', { ...costsOf(anew), note: `${CLIENTS} at a time` })
      : skip('B22', usageMissing),
    explain('rates', {
      what: 'GET /file, 16 KiB',
      unit: 'req/s',
      baselineName: BARE,
      ...ratesOf(file),
      note,
    }),
    ...explainCost('rates', 'processor time of one GET /file', file),
    ...(await raceAudiences(context)),
  ]
})

/** What was measured in each round, of the daemon and of the bare server. */
interface Race {
  readonly ours: readonly Load[]
  readonly bare: readonly Load[]
}

interface Load {
  readonly perSecond: number
  /** Microseconds of processor time that each cost the server. */
  readonly microseconds: number
}

/** Both sides are fresh, and see no other kind of request. */
async function race(
  cleanup: AsyncCleanup,
  setup: DaemonSetup,
  { path, header }: Pick<Question, 'path' | 'header'>,
  measure: (question: Question) => Promise<Load> = load,
): Promise<Race> {
  const daemon = await startDaemon(cleanup, setup)
  await prepareItem(daemon, path)
  const question = { pid: daemon.pid, port: daemon.port, path, header }
  const bare = await startTwin(cleanup, question)
  const ours = contender(() => measure(question))
  const baseline = contender(() => measure(bare))
  await alternate([ours, baseline], { rounds: ROUNDS })
  await bare.stop()
  await daemon.stop()
  return { ours: ours.values, bare: baseline.values }
}

async function prepareItem(daemon: Daemon, path: string): Promise<void> {
  if (path.endsWith(FILE.name)) {
    await daemon.send('PUT', path, FILE.text)
    await daemon.push(FILE.name)
  } else await daemon.send('PUT', '/Sync.json', JSON.stringify({ type: 'Text', text: TEXT }))
}

async function load({ pid, port, path, header }: Question): Promise<Load> {
  const before = readCpuSeconds(pid)
  const url = `http://127.0.0.1:${port}${path}`
  const perSecond = await tool.measure({ url, header, seconds: SECONDS })
  return { perSecond, microseconds: (1e6 * (readCpuSeconds(pid) - before)) / (perSecond * SECONDS) }
}

async function connectAnew({ pid, port, path, header }: Question): Promise<Load> {
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${header}\r\n\r\n`
  let left = ANEW
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const connection = await RawClient.connect(port)
      const answer = await connection.send(request).readToEnd()
      if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(`Answered: ${answer}`)
    }
  }
  const before = readCpuSeconds(pid)
  const seconds = await timed(() => Promise.all(Array.from({ length: CLIENTS }, client)))
  return { perSecond: ANEW / seconds, microseconds: (1e6 * (readCpuSeconds(pid) - before)) / ANEW }
}

/** What an event costs, and one of the hub, the push that they tell of included. */
async function raceAudiences({ cleanup, folder }: BenchContext): Promise<readonly Row[]> {
  const [one, other] = [
    await prepareSite(join(folder, 'streams'), DEVICES),
    await prepareSite(join(folder, 'hub'), DEVICES),
  ]
  const streams = await startAudience(cleanup, one, EVENT_STREAM)
  const hub = await startAudience(cleanup, other, HUB)
  const bare = await startBareAudience(cleanup, await readEvent(streams, one.setup.authorization))
  const contenders = [streams, hub, bare].map((each) => contender(() => tell(each)))
  await alternate(contenders, { rounds: ROUNDS })
  const [ofStreams = [], ofHub = [], ofBare = []] = contenders.map(({ values }) => values)
  const note = `${bare.readers.length} clients, with the push itself`
  return (
    [
      ['event stream', { ours: ofStreams, bare: ofBare }],
      ['hub', { ours: ofHub, bare: ofBare }],
    ] as const
  ).flatMap(([name, found]) => [
    explain('rates', {
      what: `${name}: told a second`,
      unit: 'clients/s',
      baselineName: `${BARE}, event stream`,
      ...ratesOf(found),
      note,
    }),
    ...explainCost('rates', `${name}: processor time of one`, found),
  ])
}

/** A bare server that sends this with each push, to as many clients. */
async function startBareAudience(cleanup: AsyncCleanup, event: string): Promise<Audience> {
  const { pid, port } = await startBaseline(cleanup, 'stream-server', event)
  const nobody = Array<string>(DEVICES).fill('')
  const readers = await openStreams(cleanup, port, nobody, EVENT_STREAM)
  const push = async (body: string): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'PUT', body })
    await answer.arrayBuffer()
  }
  return { pid, port, readers, push }
}

/** The bytes that a client reads when something was pushed. */
async function readEvent({ port, push }: Audience, authorization: string): Promise<string> {
  const client = await RawClient.connect(port)
  client.send(EVENT_STREAM.request(authorization))
  await client.readUntil(EVENT_STREAM.welcome)
  await push('0')
  const before = await client.readUntil(EVENT_STREAM.update)
  const rest = await client.readUntil('\n\n')
  client.close()
  // The line before is the length of the chunk.
  return before.slice(before.lastIndexOf('\r\n') + 2) + rest
}

async function tell(audience: Audience): Promise<Load> {
  const before = readCpuSeconds(audience.pid)
  const start = performance.now()
  for (let number = 1; number <= PUSHES; number++) await timePush(audience, `${number}`)
  const seconds = (performance.now() - start) / 1000
  const told = PUSHES * audience.readers.length
  return {
    perSecond: told / seconds,
    microseconds: (1e6 * (readCpuSeconds(audience.pid) - before)) / told,
  }
}

function ratesOf({ ours, bare }: Race): Pick<Explanation, 'measured' | 'baseline'> {
  return {
    measured: ours.map(({ perSecond }) => perSecond),
    baseline: bare.map(({ perSecond }) => perSecond),
  }
}

function costsOf({ ours, bare }: Race): Pick<Explanation, 'measured' | 'baseline'> {
  return {
    measured: ours.map(({ microseconds }) => microseconds),
    baseline: bare.map(({ microseconds }) => microseconds),
  }
}

function explainCost(subject: Subject, what: string, race: Race): readonly Row[] {
  if (usageMissing !== undefined) return []
  return [explain(subject, { what, unit: 'µs', ...costsOf(race) })]
}
