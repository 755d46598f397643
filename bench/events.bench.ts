/**
 * How long until a thousand clients know that something was pushed, and what does a waiting client
 * cost? (B12)
 *
 * Five hundred devices with two streams each, on the daemon as users run it. The time is from
 * sending the push, the durable write of the item included, to the arrival at the last client.
 *
 * @module
 */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { addCheapDevices } from '../test/support/many-devices.ts'
import { bench } from './support/bench.ts'
import { setUpDaemon, startDaemon } from './support/daemon.ts'
import { logIn, openStreams } from './support/event-streams.ts'
import { readMemory, usageMissing } from './support/process-usage.ts'
import { isQuick } from './support/rounds.ts'
import { explain, judge, skip } from './support/row.ts'
import { percentileCurve, quantile } from './support/samples.ts'

const DEVICES = isQuick ? 50 : 500
const PUSHES = isQuick ? 30 : 200

/** Until what the logins took has been given back: a worker with 64 MiB, for some seconds. */
const REST_MS = 15_000

void bench(async ({ cleanup, folder }) => {
  const setup = await setUpDaemon(join(folder, 'daemon'))
  const devices = await addCheapDevices(join(folder, 'daemon', 'data', 'devices.json'), DEVICES)
  const headers = devices.map(({ authorization }) => authorization)
  const daemon = await startDaemon(cleanup, setup)
  await logIn(daemon.port, headers)
  await daemon.send('PUT', '/Sync.json', JSON.stringify({ type: 'Text', text: 'warm' }))
  await sleep(REST_MS)

  const before = usageMissing === undefined ? readMemory(daemon.pid).rss : 0
  const readers = await openStreams(cleanup, daemon.port, headers)
  await sleep(1000)
  const grownMiB = usageMissing === undefined ? readMemory(daemon.pid).rss - before : 0
  const kibEach = (grownMiB * 1024) / readers.length

  const latencies: number[] = []
  for (let push = 0; push < PUSHES; push++) {
    const arrivals = readers.map((reader) => reader.nextUpdate())
    const start = performance.now()
    const pushed = daemon.send('PUT', '/Sync.json', JSON.stringify({ type: 'Text', text: `${push}` }))
    const times = await Promise.all(arrivals)
    await pushed
    latencies.push(Math.max(...times) - start)
  }
  const p99 = quantile(latencies, 0.99)
  const note = `${readers.length} streams, ${PUSHES} pushes`
  const rows = [
    judge('B12 latency', { measured: [p99], note }),
    explain('B12 latency', { what: 'the same, each push', unit: 'ms', measured: latencies }),
    usageMissing === undefined
      ? judge('B12 memory', { measured: [kibEach], note })
      : skip('B12 memory', usageMissing),
  ]
  const name = `push to ${readers.length} streams`
  return { rows, curves: [{ plot: 'latency', name, points: percentileCurve(latencies) }] }
})
