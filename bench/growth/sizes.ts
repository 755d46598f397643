/**
 * What items of all sizes cost: pushing them, pulling them, and the memory of it.
 * @module
 */

import { rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchContext } from '../support/bench.ts'
import { download, upload } from '../support/big-body.ts'
import { setUpDaemon, startDaemon, type Daemon } from '../support/daemon.ts'
import { median } from '../support/figure.ts'
import type { CurvePoint, Findings } from '../support/findings.ts'
import { startNginx, type Nginx } from '../support/nginx.ts'
import { readMemory, resetPeak, usageMissing } from '../support/process-usage.ts'
import { execute } from '../support/processes.ts'
import { isQuick, timed } from '../support/rounds.ts'
import { leaveOut, type Row } from '../support/row.ts'
import { BYTES, growthRow } from './growth-row.ts'

const KIB = 1024
const MIB: number = 1024 * KIB
const GIB: number = 1024 * MIB

const SIZES: readonly number[] = isQuick
  ? [1, 32 * KIB, MIB, 32 * MIB]
  : [1, KIB, 32 * KIB, MIB, 32 * MIB, GIB, 10 * GIB]

/** The item, its successor, the file of nginx, and what the daemon leaves free. */
const COPIES = 3
const SPARE_BYTES: number = GIB

/** Until what a login and the hashes took has been given back. */
const REST_MS = isQuick ? 1_000 : 12_000

interface Costs {
  readonly put: number
  readonly push: number
  readonly pull: number
  readonly firstByte: number
  /** MiB over idle. */
  readonly memory: number
  readonly peerPut: number
  readonly peerGet: number
}

export async function measureSizes({ cleanup, folder }: BenchContext): Promise<Findings> {
  const { bavail, bsize } = await statfs(folder)
  const room = (bavail * bsize - SPARE_BYTES) / COPIES
  const sizes = SIZES.filter((size) => size <= room)
  const tooLarge = SIZES.filter((size) => size > room)
  const daemon = await startDaemon(cleanup, await setUpDaemon(join(folder, 'sizes')))
  const nginx = await startNginx(cleanup, join(folder, 'nginx'))
  await daemon.send('GET', '/Sync.json')
  await sleep(REST_MS)

  const found: { readonly size: number; readonly costs: Costs }[] = []
  for (const size of sizes) found.push({ size, costs: await measureSize(daemon, nginx, size) })
  await daemon.stop()
  const points = (cost: (costs: Costs, size: number) => number): readonly CurvePoint[] =>
    found.map(({ size, costs }): CurvePoint => [size, cost(costs, size)])
  const rate = (cost: (costs: Costs) => number): readonly CurvePoint[] =>
    points((costs, size) => size / 1e6 / cost(costs))
  const milliseconds = (what: string, cost: (costs: Costs) => number): Row =>
    growthRow({ what, unit: 'ms', points: points((costs) => 1000 * cost(costs)) }, BYTES)
  const rows = [
    milliseconds('PUT /file', ({ put }) => put),
    milliseconds('then PUT /Sync.json', ({ put, push }) => push - put),
    milliseconds('GET /file', ({ pull }) => pull),
    milliseconds('GET /file until its first byte', ({ firstByte }) => firstByte),
    ...(usageMissing === undefined
      ? [
          growthRow(
            { what: 'peak memory over idle', unit: 'MiB', points: points(({ memory }) => memory) },
            BYTES,
          ),
        ]
      : []),
    ...tooLarge.map((size) => leaveOut('growth', `${size} bytes`, 'the disk is too small')),
  ]
  const curves = [
    { plot: 'throughput', name: 'PUT /file', points: rate(({ put }) => put) },
    { plot: 'throughput', name: 'with its document', points: rate(({ push }) => push) },
    { plot: 'throughput', name: 'GET /file', points: rate(({ pull }) => pull) },
    ...(nginx === undefined
      ? []
      : ([
          { plot: 'throughput', name: 'nginx PUT', points: rate(({ peerPut }) => peerPut) },
          { plot: 'throughput', name: 'nginx GET', points: rate(({ peerGet }) => peerGet) },
        ] as const)),
  ] as const
  return { rows, curves }
}

async function measureSize(daemon: Daemon, nginx: Nginx | undefined, size: number): Promise<Costs> {
  const before = usageMissing === undefined ? readMemory(daemon.pid).rss : 0
  if (usageMissing === undefined) resetPeak(daemon.pid)
  const rounds: Omit<Costs, 'memory'>[] = []
  for (let round = 0; round < roundsFor(size); round++) {
    await execute('sync')
    const name = `item-${round}.bin`
    const target = { ...daemon, path: `/file/${name}` }
    const put = await timed(() => upload(target, size))
    const push = put + (await timed(() => daemon.push(name)))
    let firstByte = 0
    const pull = await timed(async () => (firstByte = await download(target, size)))
    rounds.push({ put, push, pull, firstByte, ...(await measurePeer(nginx, size)) })
    // Takes its place, so that the disk need not hold two.
    await daemon.send('PUT', '/file/small.bin', 'small')
    await daemon.push('small.bin')
  }
  const middle = (name: keyof Omit<Costs, 'memory'>): number =>
    median(rounds.map((round) => round[name]))
  return {
    put: middle('put'),
    push: middle('push'),
    pull: middle('pull'),
    firstByte: middle('firstByte'),
    peerPut: middle('peerPut'),
    peerGet: middle('peerGet'),
    memory: usageMissing === undefined ? readMemory(daemon.pid).peak - before : 0,
  }
}

async function measurePeer(
  nginx: Nginx | undefined,
  size: number,
): Promise<Pick<Costs, 'peerPut' | 'peerGet'>> {
  if (nginx === undefined) return { peerPut: Number.NaN, peerGet: Number.NaN }
  await execute('sync')
  const target = { port: nginx.port, path: '/peer.bin' }
  const peerPut = await timed(() => upload(target, size))
  const peerGet = await timed(() => download(target, size))
  await rm(join(nginx.files, 'peer.bin'))
  return { peerPut, peerGet }
}

/** Small ones are over at once, and differ more. */
function roundsFor(size: number): number {
  if (size > GIB) return 1
  if (size > 64 * MIB) return 3
  return isQuick ? 1 : 25
}
