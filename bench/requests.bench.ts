/**
 * How many small requests a second, beside a server that only sends the same bytes? (B1, B2)
 * @module
 */

import { join } from 'node:path'
import type { AsyncCleanup } from '../src/lib/async-cleanup.ts'
import { startTwin, type Question } from './support/bare-twin.ts'
import { bench } from './support/bench.ts'
import type { BudgetId } from './support/budgets.ts'
import { setUpDaemon, startDaemon, type DaemonSetup } from './support/daemon.ts'
import { findLoadTool } from './support/load.ts'
import { readCpuSeconds, usageMissing } from './support/process-usage.ts'
import { alternate, contender, isQuick } from './support/rounds.ts'
import { explain, judge, type Row } from './support/row.ts'

const ROUNDS = isQuick ? 2 : 9
const SECONDS = isQuick ? 1 : 2

/** An ordinary copied text. */
const TEXT = 'Grüße aus dem Büro: https://example.org/a?b=c\n'.repeat(4)

const tool = findLoadTool()

void bench(async ({ cleanup, folder }) => {
  const setup = await setUpDaemon(join(folder, 'daemon'))
  const header = `Authorization: ${setup.authorization}`
  return [
    ...(await race(cleanup, setup, { budget: 'B1', path: '/Sync.json', header })),
    ...(await race(cleanup, setup, { budget: 'B2', path: '/healthz', header: undefined })),
  ]
})

interface Subject {
  readonly budget: BudgetId
  readonly path: string
  /** Both sides get it. */
  readonly header: string | undefined
}

/** Both sides are fresh, and see no other kind of request. */
async function race(
  cleanup: AsyncCleanup,
  setup: DaemonSetup,
  { budget, path, header }: Subject,
): Promise<readonly Row[]> {
  const daemon = await startDaemon(cleanup, setup)
  await daemon.send('PUT', '/Sync.json', JSON.stringify({ type: 'Text', text: TEXT }))
  const question = { pid: daemon.pid, port: daemon.port, path, header }
  const bare = await startTwin(cleanup, question)
  const ours = contender(() => load(question))
  const baseline = contender(() => load(bare))
  await alternate([ours, baseline], { rounds: ROUNDS })
  await bare.stop()
  await daemon.stop()
  return [
    judge(budget, {
      measured: ours.values.map(toRate),
      baseline: baseline.values.map(toRate),
      note: `with ${tool.name}`,
    }),
    ...(usageMissing === undefined
      ? [
          explain(budget, {
            what: 'processor time of one request',
            unit: 'µs',
            measured: ours.values.map(toCost),
            baseline: baseline.values.map(toCost),
          }),
        ]
      : []),
  ]
}

interface Load {
  readonly perSecond: number
  /** Microseconds of processor time that a request cost the server; says more on a busy machine. */
  readonly microseconds: number
}

async function load({ pid, port, path, header }: Question): Promise<Load> {
  const before = readCpuSeconds(pid)
  const url = `http://127.0.0.1:${port}${path}`
  const perSecond = await tool.measure({ url, header, seconds: SECONDS })
  return { perSecond, microseconds: (1e6 * (readCpuSeconds(pid) - before)) / (perSecond * SECONDS) }
}

function toRate({ perSecond }: Load): number {
  return perSecond
}

function toCost({ microseconds }: Load): number {
  return microseconds
}
