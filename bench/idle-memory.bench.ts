/**
 * How much memory does a daemon take that nobody uses, beside a bare Node server? (B9)
 *
 * Memory does not care how busy the machine is, so all processes rest at the same time.
 * @module
 */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bench } from './support/bench.ts'
import { setUpDaemon, startDaemon } from './support/daemon.ts'
import { usageMissing, readMemory, type Memory } from './support/process-usage.ts'
import { startBaseline } from './support/processes.ts'
import { isQuick } from './support/rounds.ts'
import { explain, judge, skip } from './support/row.ts'

const PROCESSES = isQuick ? 3 : 7

/** A start leaves things to be done, such as compiling what turned out to be used often. */
const SETTLE_MS = isQuick ? 3_000 : 10_000

/** Longer than anything that a login took may be kept. */
const REST_MS = isQuick ? 15_000 : 60_000

const ANONYMOUS = { what: 'of that anonymous', unit: 'MiB' } as const

void bench(async ({ cleanup, folder }) => {
  if (usageMissing !== undefined) return [skip('B9a', usageMissing), skip('B9b', usageMissing)]
  const numbers = Array.from({ length: PROCESSES }, (_, index) => index)
  const setups = []
  for (const number of numbers) setups.push(await setUpDaemon(join(folder, String(number))))
  const daemons = []
  const bare = []
  for (const setup of setups) {
    daemons.push(await startDaemon(cleanup, setup))
    bare.push(await startBaseline(cleanup, 'answer-server'))
  }

  await sleep(SETTLE_MS)
  const bareIdle = bare.map(({ pid }) => readMemory(pid))
  const before = daemons.map(({ pid }) => readMemory(pid))
  for (const daemon of daemons) await daemon.send('GET', '/Sync.json')
  await sleep(REST_MS)
  const after = daemons.map(({ pid }) => readMemory(pid))

  return [
    judge('B9a', { measured: before.map(rss), baseline: bareIdle.map(rss) }),
    judge('B9b', { measured: after.map(rss), baseline: bareIdle.map(rss) }),
    explain('B9a', {
      ...ANONYMOUS,
      measured: before.map(anonymous),
      baseline: bareIdle.map(anonymous),
    }),
    explain('B9b', {
      ...ANONYMOUS,
      measured: after.map(anonymous),
      baseline: bareIdle.map(anonymous),
    }),
  ]
})

function rss(memory: Memory): number {
  return memory.rss
}

function anonymous(memory: Memory): number {
  return memory.anonymous
}
