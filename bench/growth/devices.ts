/**
 * What a registry of many devices costs: its start, its memory, and its changes. What it costs
 * logins and requests is in `bench/auth/`.
 * @module
 */

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { addCheapDevices } from '../../test/support/many-devices.ts'
import type { BenchContext } from '../support/bench.ts'
import { setUpDaemon, startDaemon } from '../support/daemon.ts'
import { median } from '../support/figure.ts'
import type { CurvePoint, Findings } from '../support/findings.ts'
import { readMemory, usageMissing } from '../support/process-usage.ts'
import { isQuick, timed } from '../support/rounds.ts'
import { DEVICES, growthRow } from './growth-row.ts'

const COUNTS: readonly number[] = isQuick ? [10, 100, 1000] : [10, 100, 1000, 10_000]

const STARTS = isQuick ? 2 : 9
const CHANGES = isQuick ? 2 : 9

/** A start leaves things to be done. */
const SETTLE_MS = isQuick ? 1_000 : 10_000

const UNITS = {
  'devices.json': 'KB',
  'start to ready': 'ms',
  'idle memory': 'MiB',
  'list the devices': 'ms',
  'pair one more': 'ms',
  'revoke one': 'ms',
} as const

type Costs = Readonly<Record<keyof typeof UNITS, number>>

const NAMES = Object.keys(UNITS) as readonly (keyof typeof UNITS)[]

export async function measureDevices(context: BenchContext): Promise<Findings> {
  const found: { readonly count: number; readonly costs: Costs }[] = []
  for (const count of COUNTS) found.push({ count, costs: await measureCount(context, count) })
  const pointsOf = (name: keyof Costs): readonly CurvePoint[] =>
    found.map(({ count, costs }) => [count, costs[name]])
  return {
    rows: NAMES.filter((name) => pointsOf(name).every(([, cost]) => cost > 0)).map((name) =>
      growthRow({ what: name, unit: UNITS[name], points: pointsOf(name) }, DEVICES),
    ),
    curves: NAMES.map((name) => {
      const points = pointsOf(name)
      const first = points[0]?.[1] ?? Number.NaN
      return { plot: 'devices', name, points: points.map(([count, cost]) => [count, cost / first]) }
    }),
  }
}

async function measureCount({ cleanup, folder }: BenchContext, count: number): Promise<Costs> {
  const place = join(folder, `devices-${count}`)
  const setup = await setUpDaemon(place)
  const file = join(place, 'data', 'devices.json')
  await addCheapDevices(file, count - 1)
  const starts: number[] = []
  for (let start = 1; start < STARTS; start++) {
    const { startMs, stop } = await startDaemon(cleanup, setup)
    starts.push(startMs)
    await stop()
  }
  const daemon = await startDaemon(cleanup, setup)
  starts.push(daemon.startMs)
  await sleep(SETTLE_MS)
  const memory = usageMissing === undefined ? readMemory(daemon.pid).rss : 0

  const admin = await daemon.openAdmin()
  const lists: number[] = []
  const pairs: number[] = []
  const revokes: number[] = []
  for (let change = 0; change < CHANGES; change++) {
    lists.push(await timed(() => admin.devices()))
    let id = ''
    pairs.push(await timed(async () => ({ id } = await admin.pair(PHONE))))
    revokes.push(await timed(() => admin.revoke(id)))
  }
  const { size } = await stat(file)
  await daemon.stop()
  return {
    'devices.json': size / 1e3,
    'start to ready': median(starts),
    'idle memory': memory,
    'list the devices': 1000 * median(lists),
    'pair one more': 1000 * median(pairs),
    'revoke one': 1000 * median(revokes),
  }
}

const PHONE = {
  kind: 'phone',
  label: undefined,
  username: undefined,
  password: undefined,
  url: undefined,
} as const
