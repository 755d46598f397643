/**
 * How much memory do four large uploads at once take? (B8)
 * @module
 */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { upload, type BodyTarget } from './support/big-body.ts'
import { bench } from './support/bench.ts'
import { setUpDaemon, startDaemon } from './support/daemon.ts'
import { usageMissing, readMemory, resetPeak } from './support/process-usage.ts'
import { startBaseline } from './support/processes.ts'
import { alternate, BODY_BYTES, contender, isQuick } from './support/rounds.ts'
import { judge, skip } from './support/row.ts'
import { sample } from './support/samples.ts'

const ROUNDS = isQuick ? 2 : 5

const UPLOADS = ['a.bin', 'b.bin', 'c.bin', 'd.bin']

/** Until what the login took has been given back: a worker with 64 MiB, for some seconds. */
const REST_MS = 12_000

const SAMPLE_MS = 100

void bench(async ({ cleanup, folder }) => {
  if (usageMissing !== undefined) return [skip('B8', usageMissing)]
  const daemon = await startDaemon(cleanup, await setUpDaemon(join(folder, 'daemon')))
  const sinkFolder = join(folder, 'sink')
  await mkdir(sinkFolder)
  const sink = await startBaseline(cleanup, 'sink-server', sinkFolder)
  const over = sample(cleanup, SAMPLE_MS, () => readMemory(daemon.pid).rss)
  const bareOver = sample(cleanup, SAMPLE_MS, () => readMemory(sink.pid).rss)
  await daemon.send('GET', '/Sync.json')
  await sleep(REST_MS)

  const daemonIdle = readMemory(daemon.pid).rss
  const sinkIdle = readMemory(sink.pid).rss
  const ours = contender(
    async () => (await peakOf(daemon.pid, { ...daemon, path: '/file/' })) - daemonIdle,
  )
  const bare = contender(async () => (await peakOf(sink.pid, { ...sink, path: '/' })) - sinkIdle)
  await alternate([ours, bare], { rounds: ROUNDS })
  // Curves that end at a peak would hide that memory is given back.
  if (!isQuick) await sleep(REST_MS)
  over.stop()
  bareOver.stop()
  return {
    rows: [judge('B8', { measured: ours.values, baseline: bare.values })],
    curves: [
      { plot: 'memory', name: 'clipgate', points: over.points },
      { plot: 'memory', name: 'bare node:http', points: bareOver.points },
    ],
  }
})

/** The names are the same in all rounds, so that the files replace each other. */
async function peakOf(pid: number, target: BodyTarget): Promise<number> {
  resetPeak(pid)
  await Promise.all(
    UPLOADS.map((name) => upload({ ...target, path: target.path + name }, BODY_BYTES)),
  )
  return readMemory(pid).peak
}
