/**
 * Does the daemon live in 128 MiB of memory and a quarter of a core, and how well?
 *
 * The daemon alone is in a control group with these limits; whoever uses it is outside. Twenty
 * phones poll each second while a large file comes, is fetched, and passwords are guessed. It fails
 * when the kernel killed anything or could soon have, or when bytes or answers were wrong.
 * @module
 */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bench, type BenchContext } from './support/bench.ts'
import { createCgroup } from './support/cgroup.ts'
import { pairDevice, setUpDaemon, startDaemon } from './support/daemon.ts'
import type { CurvePoint, Findings } from './support/findings.ts'
import { guessPasswords } from './support/guess-passwords.ts'
import { downloadIntact, uploadIntact } from './support/intact-body.ts'
import { startPhones } from './support/polling-phones.ts'
import { readMemory } from './support/process-usage.ts'
import { isQuick, timed } from './support/rounds.ts'
import { explain, leaveOut, type Row } from './support/row.ts'
import { quantile, sample } from './support/samples.ts'

const MIB: number = 1024 * 1024
const LIMITS = { memoryBytes: 128 * MIB, processors: 0.25 }
const WHERE = '128 MiB, 1/4 core'

/** What the daemon leaves of its memory at all times: the kernel needs some for what it does there. */
const SPARE_MIB = 16

/** `make small UPLOAD_MIB=10240` takes the largest file, and half an hour. */
const BODY_BYTES: number = Number(process.env['UPLOAD_MIB'] || (isQuick ? 48 : 1024)) * MIB
const PHONES = isQuick ? 4 : 20
const REST_MS = isQuick ? 3_000 : 30_000
const GUESSING = { clients: 200, seconds: isQuick ? 4 : 30 } as const
const SAMPLE_MS = 250

/** Joins the group, and becomes the program. */
const JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 1; shift; done; shift; exec "$@"'

void bench(measure)

async function measure({ cleanup, folder }: BenchContext): Promise<Findings> {
  const cgroup = createCgroup(`clipgate-bench-${process.pid}`, LIMITS)
  if (typeof cgroup === 'string') return { rows: [leaveOut('small', WHERE, cgroup)], curves: [] }
  cleanup.add(() => cgroup.remove())
  const place = join(folder, 'daemon')
  const setup = await setUpDaemon(place)
  const phones = [setup.authorization]
  while (phones.length < PHONES) phones.push(await pairDevice(setup.env))

  const wrapper = ['/bin/sh', '-c', JOIN, 'join', ...cgroup.joinFiles, '--'] as const
  const daemon = await startDaemon(cleanup, { ...setup, wrapper })
  const { pid, port } = daemon
  const group = sample(cleanup, SAMPLE_MS, () => cgroup.read().usage / MIB)
  const resident = sample(cleanup, SAMPLE_MS, () => readMemory(pid).rss)
  const anonymous = sample(cleanup, SAMPLE_MS, () => readMemory(pid).anonymous)
  const login = await timed(() => daemon.send('GET', '/Sync.json'))
  const polling = await startPhones(cleanup, port, phones)

  const rows: Row[] = [
    row('start', 'ms', [daemon.startMs]),
    row('first login', 'ms', [1000 * login], 'keyboards wait for 1,000'),
  ]
  async function phase(name: string, run: () => Promise<unknown>): Promise<number> {
    polling.takeTimes()
    const seconds = await timed(run)
    const times = polling.takeTimes()
    const answers = `${times.length} answers`
    const what = `poll of one of ${PHONES} phones, ${name}`
    rows.push(row(`${what}, p50`, 'ms', [quantile(times, 0.5)], answers))
    rows.push(row(`${what}, p99`, 'ms', [quantile(times, 0.99)], answers))
    return seconds
  }
  await phase('at rest', () => sleep(REST_MS))
  const target = { port, path: '/file/large.bin', authorization: setup.authorization }
  const hashes: string[] = []
  const sent = await phase('during an upload', async () => {
    hashes.push(await uploadIntact(target, BODY_BYTES))
  })
  // UniClip waits for five seconds, and else sends the file to the next address.
  const named = await timed(() => daemon.push('large.bin'))
  const fetched = await phase('during a download', async () => {
    hashes.push(await downloadIntact(target))
  })
  if (hashes[0] !== hashes[1]) throw new Error('The bytes of the download are not those sent')
  const [username = ''] = Buffer.from(setup.authorization.slice(6), 'base64').toString().split(':')
  const guesses: [status: string, count: number][] = []
  await phase('while passwords are guessed', async () => {
    guesses.push(...Object.entries(await guessPasswords(cleanup, { port, username, ...GUESSING })))
  })
  await polling.stop()
  for (const sampler of [group, resident, anonymous]) sampler.stop()

  const { peak, killed } = cgroup.read()
  if (killed > 0) throw new Error(`The kernel killed ${killed} of the processes`)
  const spare = LIMITS.memoryBytes / MIB - highest(anonymous.points)
  if (spare < SPARE_MIB) throw new Error(`The daemon left ${spare.toFixed(1)} MiB at its peak`)
  const size = `${BODY_BYTES / MIB} MiB, intact`
  rows.push(
    row('PUT /file', 'MB/s', [BODY_BYTES / 1e6 / sent], size),
    row('PUT of its document', 'ms', [1000 * named], 'UniClip waits for 5,000'),
    row('GET /file', 'MB/s', [BODY_BYTES / 1e6 / fetched], size),
    row(
      `answers to ${GUESSING.clients} guessers`,
      '',
      [guesses.reduce((sum, [, count]) => sum + count, 0)],
      guesses.map(([status, count]) => `${count} × ${status}`).join(', '),
    ),
    row('peak of the group, files that the kernel keeps included', 'MiB', [
      peak === undefined ? highest(group.points) : peak / MIB,
    ]),
    row('peak of the daemon, resident', 'MiB', [highest(resident.points)], 'its program included'),
    row('peak of the daemon, anonymous', 'MiB', [highest(anonymous.points)]),
    row('killed for want of memory', '', [killed], `cgroup v${cgroup.version}`),
    row('kept from running', 's', [cgroup.throttledSeconds()]),
  )
  return {
    rows,
    curves: [
      { plot: 'small', name: 'the group', points: group.points },
      { plot: 'small', name: 'the daemon, resident', points: resident.points },
      { plot: 'small', name: 'the daemon, anonymous', points: anonymous.points },
    ],
  }
}

function row(what: string, unit: string, measured: readonly number[], note?: string): Row {
  return explain('small', { what: `${WHERE}: ${what}`, unit, measured, note })
}

function highest(points: readonly CurvePoint[]): number {
  return Math.max(...points.map(([, value]) => value))
}
