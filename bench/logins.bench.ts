/**
 * What do two hundred clients that guess passwords cost everybody else? (B11)
 *
 * The guesses are all different, come from one address, and each client sends the next one as soon
 * as it has an answer. Beside them two clients ask at a steady pace, each on its own connection:
 * one for `/healthz`, and one that has logged in before for the document.
 * @module
 */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { RawClient } from '../test/support/raw-http.ts'
import { bench } from './support/bench.ts'
import type { BudgetId } from './support/budgets.ts'
import { setUpDaemon, startDaemon, type Daemon } from './support/daemon.ts'
import type { Curve, Findings } from './support/findings.ts'
import { guessPasswords, type Answers } from './support/guess-passwords.ts'
import { readMemory, resetPeak, usageMissing } from './support/process-usage.ts'
import { isQuick } from './support/rounds.ts'
import { explain, judge, skip, type Row, type Sides } from './support/row.ts'
import { percentileCurve, quantile } from './support/samples.ts'

const BUDGETS: readonly BudgetId[] = ['B11 memory', 'B11 rest', 'B11 probe', 'B11 device']

const ROUNDS = isQuick ? 1 : 5
const CLIENTS = 200
const SECONDS = isQuick ? 2 : 10
const PACE_MS = 10

/** A worker with 64 MiB may be kept for some seconds. */
const REST_MS = 12_000

void bench(async ({ cleanup, folder }): Promise<readonly Row[] | Findings> => {
  if (usageMissing !== undefined) {
    const reason = usageMissing
    return BUDGETS.map((budget) => skip(budget, reason))
  }
  const setup = await setUpDaemon(join(folder, 'daemon'))
  const daemon = await startDaemon(cleanup, setup)
  const { pid, port } = daemon
  const [username = ''] = Buffer.from(setup.authorization.slice(6), 'base64').toString().split(':')
  await daemon.send('PUT', '/Sync.json', JSON.stringify({ type: 'Text', text: 'hello' }))
  // Whoever serves for the first time compiles.
  await ask(daemon)
  await sleep(REST_MS)

  const rounds: Round[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const quiet = await ask(daemon)
    const idle = readMemory(pid).rss
    resetPeak(pid)
    const [busy, answers] = await Promise.all([
      ask(daemon),
      guessPasswords(cleanup, { port, clients: CLIENTS, seconds: SECONDS, username }),
    ])
    const { peak } = readMemory(pid)
    await sleep(REST_MS)
    rounds.push({ quiet, busy, answers, grown: peak - idle, kept: readMemory(pid).rss - idle })
  }
  const note = rounds.map(({ answers }) => describe(answers)).join('; ')
  const rows = [
    judge('B11 memory', { measured: rounds.map(({ grown }) => grown), note }),
    judge('B11 rest', { measured: rounds.map(({ kept }) => kept) }),
    ...(['probe', 'device'] as const).flatMap((name) => [
      judge(`B11 ${name}`, compare(rounds, name, 0.99)),
      explain(`B11 ${name}`, { what: 'the slowest', unit: 'ms', ...compare(rounds, name, 1) }),
    ]),
  ]
  return {
    rows,
    curves: [
      curve(
        'document, at rest',
        rounds.flatMap(({ quiet }) => quiet.device),
      ),
      curve(
        '/healthz, at rest',
        rounds.flatMap(({ quiet }) => quiet.probe),
      ),
      curve(
        'document, 200 guessers',
        rounds.flatMap(({ busy }) => busy.device),
      ),
      curve(
        '/healthz, 200 guessers',
        rounds.flatMap(({ busy }) => busy.probe),
      ),
    ],
  }
})

function curve(name: string, times: readonly number[]): Curve {
  return { plot: 'latency', name, points: percentileCurve(times) }
}

interface Round {
  readonly quiet: Times
  readonly busy: Times
  readonly answers: Answers
  /** MiB more than before. */
  readonly grown: number
  readonly kept: number
}

/** How many milliseconds each answer took. */
interface Times {
  readonly probe: readonly number[]
  readonly device: readonly number[]
}

function compare(rounds: readonly Round[], name: keyof Times, share: number): Sides {
  return {
    measured: rounds.map(({ busy }) => quantile(busy[name], share)),
    baseline: rounds.map(({ quiet }) => quantile(quiet[name], share)),
  }
}

async function ask({ port, authorization }: Daemon): Promise<Times> {
  const [probe, device] = await Promise.all([
    askSteadily(port, 204, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'),
    askSteadily(
      port,
      200,
      `GET /Sync.json HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`,
    ),
  ])
  return { probe, device }
}

async function askSteadily(port: number, expected: number, request: string): Promise<number[]> {
  const client = await RawClient.connect(port)
  const times: number[] = []
  const end = performance.now() + 1000 * SECONDS
  while (performance.now() < end) {
    const start = performance.now()
    const { status } = await client.send(request).read()
    times.push(performance.now() - start)
    if (status !== expected) throw new Error(`A steady client was answered with ${status}`)
    await sleep(PACE_MS)
  }
  client.close()
  return times
}

function describe(answers: Answers): string {
  return Object.entries(answers)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')
}
