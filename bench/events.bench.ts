/**
 * How long until a thousand clients know that something was pushed, and what does a waiting client
 * cost? (B12)
 *
 * Devices with two streams each, on the daemon as users run it. The time is from sending the push,
 * the durable write of the item included, to the arrival at the last of a thousand clients.
 *
 * The memory is that of three thousand streams, with the room for young objects that V8 makes where
 * memory is short. That of the first thousand of them depends on the logins before: V8 makes that
 * room larger, once, by some MiB, for whichever comes first. Behind 500 logins a stream of a thousand
 * seemed to take 17 KiB, behind 1,500 it took 6 in one run and 14 in the next.
 * @module
 */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MAX_STREAMS_PER_DEVICE } from '../src/core/limits.ts'
import { addCheapDevices } from '../test/support/many-devices.ts'
import { bench } from './support/bench.ts'
import { setUpDaemon, SMALL_ROOM, startDaemon, type Daemon } from './support/daemon.ts'
import { logIn, openStreams, type StreamReader } from './support/event-streams.ts'
import { pushText, timePush } from './support/fan-out.ts'
import { readMemory, usageMissing } from './support/process-usage.ts'
import { isQuick } from './support/rounds.ts'
import { explain, judge, skip } from './support/row.ts'
import { percentileCurve, quantile } from './support/samples.ts'

const DEVICES = isQuick ? 50 : 500
const ALL_DEVICES = isQuick ? 100 : 1500
const PUSHES = isQuick ? 30 : 200

/** Daemons whose memory is measured: how much of it is garbage at the moment differs. */
const DAEMONS = isQuick ? 1 : 5

/** Until what the logins took has been given back: a worker with 64 MiB, for some seconds. */
const REST_MS = 15_000

void bench(async ({ cleanup, folder }) => {
  const setup = await setUpDaemon(join(folder, 'daemon'))
  const registry = join(folder, 'daemon', 'data', 'devices.json')
  const devices = await addCheapDevices(registry, ALL_DEVICES)
  const headers = devices.map(({ authorization }) => authorization)
  const few = headers.slice(0, DEVICES)
  const first: number[] = []
  const all: number[] = []
  for (let round = 1; round <= DAEMONS; round++) {
    const daemon = await startDaemon(cleanup, setup, ['--headless'], SMALL_ROOM)
    await logIn(daemon.port, headers)
    await pushText(daemon, 'warm')
    await sleep(REST_MS)
    const before = residentMiB(daemon)
    const readers = [...(await openStreams(cleanup, daemon.port, few))]
    await sleep(1000)
    first.push((1024 * (residentMiB(daemon) - before)) / readers.length)
    readers.push(...(await openStreams(cleanup, daemon.port, headers.slice(DEVICES))))
    await sleep(1000)
    all.push((1024 * (residentMiB(daemon) - before)) / readers.length)
    for (const { socket } of readers) socket.destroy()
    await daemon.stop()
  }
  const daemon = await startDaemon(cleanup, setup)
  await logIn(daemon.port, few)
  const latencies = await timePushes(daemon, await openStreams(cleanup, daemon.port, few))
  const streams = few.length * MAX_STREAMS_PER_DEVICE
  const note = `${headers.length * MAX_STREAMS_PER_DEVICE} streams`
  const pushes = `${streams} streams, ${PUSHES} pushes`
  const rows = [
    judge('B12 latency', { measured: [quantile(latencies, 0.99)], note: pushes }),
    explain('B12 latency', { what: 'the same, each push', unit: 'ms', measured: latencies }),
    ...(usageMissing === undefined
      ? [
          judge('B12 memory', { measured: all, note }),
          explain('B12 memory', { what: `of the first ${streams}`, unit: 'KiB', measured: first }),
        ]
      : [skip('B12 memory', usageMissing)]),
  ]
  const points = percentileCurve(latencies)
  return { rows, curves: [{ plot: 'latency', name: `push to ${streams} streams`, points }] }
})

/** Milliseconds until the last of them knows, for each push. */
async function timePushes(
  daemon: Daemon,
  readers: readonly StreamReader[],
): Promise<readonly number[]> {
  const latencies: number[] = []
  const audience = { readers, push: (text: string) => pushText(daemon, text) }
  for (let number = 1; number <= PUSHES; number++) {
    latencies.push(await timePush(audience, `${number}`))
  }
  return latencies
}

function residentMiB({ pid }: Daemon): number {
  return usageMissing === undefined ? readMemory(pid).rss : 0
}
