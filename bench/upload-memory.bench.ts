/**
 * How much memory do four large uploads at once take? (B8)
 *
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

const ROUNDS = isQuick ? 2 : 5

const UPLOADS = ['a.bin', 'b.bin', 'c.bin', 'd.bin']

/** Until what the login took has been given back: a worker with 64 MiB, for some seconds. */
const REST_MS = 12_000

void bench(async ({ cleanup, folder }) => {
  if (usageMissing !== undefined) return [skip('B8', usageMissing)]
  const daemon = await startDaemon(cleanup, await setUpDaemon(join(folder, 'daemon')))
  const sinkFolder = join(folder, 'sink')
  await mkdir(sinkFolder)
  const sink = await startBaseline(cleanup, 'sink-server', sinkFolder)
  await daemon.send('GET', '/Sync.json')
  await sleep(REST_MS)

  const daemonIdle = readMemory(daemon.pid).rss
  const sinkIdle = readMemory(sink.pid).rss
  const ours = contender(
    async () => (await peakOf(daemon.pid, { ...daemon, path: '/file/' })) - daemonIdle,
  )
  const bare = contender(async () => (await peakOf(sink.pid, { ...sink, path: '/' })) - sinkIdle)
  await alternate([ours, bare], { rounds: ROUNDS })
  return [judge('B8', { measured: ours.values, baseline: bare.values })]
})

/** The names are the same in all rounds, so that the files replace each other. */
async function peakOf(pid: number, target: BodyTarget): Promise<number> {
  resetPeak(pid)
  await Promise.all(
    UPLOADS.map((name) => upload({ ...target, path: target.path + name }, BODY_BYTES)),
  )
  return readMemory(pid).peak
}
