/**
 * What do a thousand clients of the message hub cost, beside event streams of ours and of nginx?
 * (B20)
 *
 * Each has a server of its own, and they take turns. The time is from sending a push to its arrival
 * at the last client; that of the daemon includes the durable write of the item, and nginx, with its
 * module `nchan`, writes nothing and asks nobody for a login.
 *
 * The memory is that of three thousand clients, as of B12, and on daemons that take turns too.
 * @module
 */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MAX_STREAMS_PER_DEVICE } from '../src/core/limits.ts'
import type { AsyncCleanup } from '../src/lib/async-cleanup.ts'
import { bench } from './support/bench.ts'
import { SMALL_ROOM, startDaemon } from './support/daemon.ts'
import { EVENT_STREAM, HUB, logIn, openStreams, type Listening } from './support/event-streams.ts'
import {
  prepareSite,
  pushText,
  startAudience,
  timePush,
  type Audience,
  type Site,
} from './support/fan-out.ts'
import { NCHAN_STREAM, startNchan } from './support/nchan.ts'
import { readMemory, usageMissing } from './support/process-usage.ts'
import { isQuick } from './support/rounds.ts'
import { explain, judge, leaveOut, skip, type Row } from './support/row.ts'
import { quantile } from './support/samples.ts'

const DEVICES = isQuick ? 50 : 500
const ALL_DEVICES = isQuick ? 100 : 1500
const PUSHES = isQuick ? 30 : 200

/** Daemons of each kind whose memory is measured. */
const DAEMONS = isQuick ? 1 : 3

/** Until what the logins took has been given back: a worker with 64 MiB, for some seconds. */
const REST_MS = 15_000

const NO_NCHAN = 'needs nginx with nchan (libnginx-mod-nchan)'

/** Servers take turns. */
interface Contender extends Audience {
  /** Milliseconds until the last of them knew, for each push. */
  readonly latencies: number[]
  /** Memory of a client in KiB, where the server had done nothing else. */
  readonly each?: number
}

void bench(async ({ cleanup, folder }) => {
  const large = await prepareSite(join(folder, 'large'), ALL_DEVICES)
  const streamKiB: number[] = []
  const hubKiB: number[] = []
  for (let round = 1; round <= DAEMONS && usageMissing === undefined; round++) {
    streamKiB.push(await measureMemory(cleanup, large, EVENT_STREAM))
    hubKiB.push(await measureMemory(cleanup, large, HUB))
  }

  const [one, other] = [
    await prepareSite(join(folder, 'one'), DEVICES),
    await prepareSite(join(folder, 'other'), DEVICES),
  ]
  const hub = await contend(cleanup, one, HUB)
  const streams = await contend(cleanup, other, EVENT_STREAM)
  const nchan = await contendWithNchan(cleanup, join(folder, 'nchan'))
  const contenders = [hub, streams, ...(nchan === undefined ? [] : [nchan])]
  for (let number = 1; number <= PUSHES; number++) {
    for (const contender of contenders) {
      contender.latencies.push(await timePush(contender, `${number}`))
    }
  }
  return [...latencyRows(hub, streams, nchan), ...memoryRows(streamKiB, hubKiB, nchan?.each)]
})

function latencyRows(
  hub: Contender,
  streams: Contender,
  nchan: Contender | undefined,
): readonly Row[] {
  const clients = `${hub.readers.length} clients each, ${PUSHES} pushes`
  const each = [
    { what: 'hub connections, each push', measured: hub.latencies },
    { what: 'event streams, each push', measured: streams.latencies },
  ]
  const [p99, baseline] = [streams, nchan].map((one) => one && [quantile(one.latencies, 0.99)])
  const beside = { unit: 'ms', baselineName: 'nginx nchan' }
  return [
    judge('B20 latency', {
      measured: [quantile(hub.latencies, 0.99)],
      baseline,
      note: nchan === undefined ? `${clients}; the baseline ${NO_NCHAN}` : clients,
    }),
    explain('B20 latency', {
      ...beside,
      what: 'event streams, p99',
      measured: p99 ?? [],
      baseline,
    }),
    ...each.map((row) => explain('B20 latency', { ...beside, ...row, baseline: nchan?.latencies })),
  ]
}

function memoryRows(
  streamKiB: readonly number[],
  hubKiB: readonly number[],
  nchanKiB: number | undefined,
): readonly Row[] {
  if (usageMissing !== undefined) return [skip('B20 memory', usageMissing)]
  const note = `${ALL_DEVICES * MAX_STREAMS_PER_DEVICE} clients each`
  const what = 'memory of a reader of nchan'
  return [
    judge('B20 memory', { measured: hubKiB, baseline: streamKiB, note }),
    nchanKiB === undefined
      ? leaveOut('B20 memory', what, NO_NCHAN)
      : explain('B20 memory', { what, unit: 'KiB', measured: [nchanKiB] }),
  ]
}

/** KiB that one of many clients takes. */
async function measureMemory(
  cleanup: AsyncCleanup,
  { setup, logins }: Site,
  listening: Listening,
): Promise<number> {
  const daemon = await startDaemon(cleanup, setup, ['--headless'], SMALL_ROOM)
  await logIn(daemon.port, logins)
  await pushText(daemon, 'warm')
  await sleep(REST_MS)
  const before = memoryOf(daemon)
  const readers = await openStreams(cleanup, daemon.port, logins, listening)
  await sleep(1000)
  const each = (1024 * (memoryOf(daemon) - before)) / readers.length
  for (const { socket } of readers) socket.destroy()
  await daemon.stop()
  return each
}

/** A daemon with clients of one kind. */
async function contend(
  cleanup: AsyncCleanup,
  site: Site,
  listening: Listening,
): Promise<Contender> {
  return { ...(await startAudience(cleanup, site, listening)), latencies: [] }
}

/** Its clients need no login. */
async function contendWithNchan(
  cleanup: AsyncCleanup,
  folder: string,
): Promise<Contender | undefined> {
  const nchan = await startNchan(cleanup, folder)
  if (nchan === undefined) return undefined
  const before = memoryOf(nchan)
  const nobody = Array<string>(DEVICES).fill('')
  const readers = await openStreams(cleanup, nchan.port, nobody, NCHAN_STREAM)
  const each = (1024 * (memoryOf(nchan) - before)) / readers.length
  return { ...nchan, readers, push: nchan.publish, latencies: [], each }
}

function memoryOf({ pid }: { readonly pid: number }): number {
  return usageMissing === undefined ? readMemory(pid).rss : 0
}
