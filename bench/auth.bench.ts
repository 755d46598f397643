/**
 * What does a login cost: the first of a device, one of a known device, and a wrong one? (B13)
 *
 * By processor time of the daemon, beside Argon2id alone as native code, or beside a bare
 * `node:http` that sends the same answer; with 1 to 10,000 devices, with other parameters of
 * Argon2id, and on other versions of Node. B13 is by the clock: all of the first request to a daemon
 * that was just started, whose worker has to start as well.
 * @module
 */

import { join } from 'node:path'
import type { Argon2Parameters } from '../src/devices/phc-string.ts'
import {
  makeSite,
  measureFirst,
  measureLogins,
  type LoginCosts,
  type Sides,
} from './auth/login-costs.ts'
import { findNative, type NativeArgon2, type NativeRun } from './auth/native-argon2.ts'
import { findOtherNodes } from './auth/other-nodes.ts'
import { DEVICES, growthRow } from './growth/growth-row.ts'
import { bench, type BenchContext } from './support/bench.ts'
import type { Findings } from './support/findings.ts'
import { execute } from './support/processes.ts'
import { usageMissing } from './support/process-usage.ts'
import { alternate, contender, isQuick } from './support/rounds.ts'
import { explain, judge, leaveOut, skip, type Row } from './support/row.ts'

const ROUNDS = isQuick ? 2 : 5
const OTHER_ROUNDS = isQuick ? 1 : 3

const COUNTS: readonly number[] = isQuick ? [1, 1000] : [1, 100, 10_000]

/** Those of the daemon. */
const OWN: Argon2Parameters = { memoryKib: 65_536, passes: 3, parallelism: 4 }

/** The least that OWASP recommends, one lane instead of four, and twice the memory. */
const OTHERS: readonly Argon2Parameters[] = [
  { memoryKib: 19_456, passes: 2, parallelism: 1 },
  { memoryKib: 65_536, passes: 3, parallelism: 1 },
  { memoryKib: 131_072, passes: 3, parallelism: 4 },
]

const NATIVE = 'native argon2'
const BARE = 'bare node:http'

interface Round {
  readonly costs: LoginCosts
  /** `undefined` where there is none. */
  readonly native: NativeRun | undefined
}

void bench(async (context): Promise<readonly Row[] | Findings> => {
  if (usageMissing !== undefined) {
    return [skip('B13', usageMissing), leaveOut('auth', 'what a login costs', usageMissing)]
  }
  const native = await findNative(join(context.folder, 'native'))
  const argon2 = typeof native === 'string' ? undefined : native
  const site = await makeSite(join(context.folder, 'one'), { devices: 1 })
  const rounds: Round[] = []
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({
      native: await argon2?.run(process.execPath, OWN),
      costs: await measureLogins(context.cleanup, site),
    })
  }
  const byDevices = await compareDevices(context)
  return {
    rows: [
      argon2 === undefined ? skip('B13', String(native)) : judgeFirst(rounds),
      ...loginRows(rounds),
      ...byDevices.rows,
      ...(await compareParameters(context, argon2)),
      ...(isQuick ? [] : await compareNodes(context, argon2)),
    ],
    curves: byDevices.curves,
  }
})

function judgeFirst(rounds: readonly Round[]): Row {
  return judge('B13', {
    measured: rounds.map(({ costs }) => costs.first.ms),
    baseline: rounds.map(({ native }) => native?.ms ?? Number.NaN),
  })
}

/** @param version Of another Node, of which fewer rows say enough. */
function loginRows(rounds: readonly Round[], version?: string): readonly Row[] {
  const suffix = version === undefined ? '' : `, Node ${version}`
  const beside = (what: string, of: (costs: LoginCosts) => number): Row =>
    explain('auth', {
      what: what + suffix,
      unit: 'ms',
      measured: rounds.map(({ costs }) => of(costs)),
      ...nativeSide(rounds),
    })
  const paired = (what: string, unit: string, of: (costs: LoginCosts) => Sides): Row =>
    explain('auth', {
      what: what + suffix,
      unit,
      measured: rounds.map(({ costs }) => of(costs).ours),
      baseline: rounds.map(({ costs }) => of(costs).bare),
      baselineName: BARE,
    })
  const usual = [
    beside('processor: first login after a start', ({ first }) => first.cpuMs),
    beside('processor: wrong password', ({ wrong }) => wrong),
    paired('processor: known device, new connection', 'µs', ({ fresh }) => fresh),
    paired('processor: known device, kept connection', 'µs', ({ kept }) => kept),
  ]
  if (version !== undefined) return usual
  return [
    ...usual,
    beside('processor: name that nobody has', ({ nobody }) => nobody),
    paired('processor: the same wrong password again', 'µs', ({ wrongAgain }) => wrongAgain),
    paired('known device, kept connection', 'req/s', ({ rate }) => rate),
  ]
}

function nativeSide(rounds: readonly Round[]) {
  const runs = rounds.flatMap(({ native }) => (native === undefined ? [] : [native.cpuMs]))
  return runs.length < rounds.length ? {} : { baseline: runs, baselineName: NATIVE }
}

/**
 * The processor time of each at the largest number of devices, beside that at one. The least of all
 * rounds, since other programs only make it more.
 */
async function compareDevices({ cleanup, folder }: BenchContext): Promise<Findings> {
  const kinds: readonly (readonly [string, string, (costs: LoginCosts) => number])[] = [
    ['first login', 'ms', ({ first }) => first.cpuMs],
    ['wrong password', 'ms', ({ wrong }) => wrong],
    ['the same wrong password again', 'µs', ({ wrongAgain }) => wrongAgain.ours],
    ['known device, new connection', 'µs', ({ fresh }) => fresh.ours],
    ['known device, kept connection', 'µs', ({ kept }) => kept.ours],
  ]
  const found = await Promise.all(
    COUNTS.map(async (devices) => {
      const site = await makeSite(join(folder, `devices-${devices}`), { devices })
      return { devices, daemon: contender(() => measureLogins(cleanup, site)) }
    }),
  )
  await alternate(
    found.map(({ daemon }) => daemon),
    { rounds: OTHER_ROUNDS, isCold: true },
  )
  const lines = kinds.map(([what, unit, of]) => {
    return {
      what,
      unit,
      points: found.map(
        ({ devices, daemon }) => [devices, Math.min(...daemon.values.map(of))] as const,
      ),
    }
  })
  return {
    rows: lines.map((line) =>
      growthRow({ ...line, what: `processor: ${line.what}` }, DEVICES, 'auth'),
    ),
    curves: lines.map(({ what, points }) => ({
      plot: 'devices',
      name: what,
      points: points.map(
        ([count, cost]) => [count, cost / (points[0]?.[1] ?? Number.NaN)] as const,
      ),
    })),
  }
}

/** A registry may hold hashes of others than the daemon makes. */
async function compareParameters(
  { cleanup, folder }: BenchContext,
  argon2: NativeArgon2 | undefined,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const [index, parameters] of OTHERS.entries()) {
    const site = await makeSite(join(folder, `parameters-${index}`), { devices: 1, parameters })
    const measured: number[] = []
    const baseline: number[] = []
    for (let round = 0; round < OTHER_ROUNDS; round++) {
      baseline.push((await argon2?.run(process.execPath, parameters))?.cpuMs ?? Number.NaN)
      measured.push((await measureFirst(cleanup, site)).cpuMs)
    }
    const { memoryKib, passes, parallelism } = parameters
    const what = `processor: first login, m=${memoryKib},t=${passes},p=${parallelism}`
    const sides = argon2 === undefined ? {} : { baseline, baselineName: NATIVE }
    rows.push(explain('auth', { what, unit: 'ms', measured, ...sides }))
  }
  return rows
}

async function compareNodes(
  { cleanup, folder }: BenchContext,
  argon2: NativeArgon2 | undefined,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const { wanted, program } of await findOtherNodes()) {
    if (program === undefined) {
      rows.push(leaveOut('auth', `Node ${wanted}`, 'needs npm and a registry'))
      continue
    }
    const { stdout } = await execute(program, ['--version'])
    const site = await makeSite(join(folder, `node-${wanted}`), { devices: 1, node: program })
    const rounds: Round[] = []
    for (let round = 0; round < OTHER_ROUNDS; round++) {
      rounds.push({
        native: await argon2?.run(program, OWN),
        costs: await measureLogins(cleanup, site),
      })
    }
    rows.push(...loginRows(rounds, stdout.trim().slice(1)))
  }
  return rows
}
