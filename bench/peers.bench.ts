/**
 * How does the daemon stand beside what people would use instead? (B1, B3, B5, B7, B9, B10)
 *
 * A plain Express and a plain Fastify gateway with the usual packages, rclone's WebDAV server, and
 * nginx with and without a password, doing the same calls on the same machine in turns. None of
 * them hashes what it stores, tells others of it, or takes care that a name is not lost in a crash.
 * What they are is in bench/peers/ and bench/support/peers.ts.
 * @module
 */

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { RawClient } from '../test/support/raw-http.ts'
import { bench, type BenchContext } from './support/bench.ts'
import { download, upload, uploadForm } from './support/big-body.ts'
import type { BudgetId } from './support/budgets.ts'
import { findLoadTool } from './support/load.ts'
import { listPeers, startGateway, type Peer, type PeerProgram } from './support/peers.ts'
import { readMemory, usageMissing } from './support/process-usage.ts'
import { execute, findProgram } from './support/processes.ts'
import { alternate, BODY_BYTES, contender, isQuick, timed, toRates } from './support/rounds.ts'
import { explain, leaveOut, type Row } from './support/row.ts'

const ROUNDS = isQuick ? 1 : 5
const START_ROUNDS = isQuick ? 1 : 15
const SECONDS = isQuick ? 1 : 2

/** A start leaves things to be done. */
const SETTLE_MS = isQuick ? 1_000 : 10_000

const DOCUMENT = JSON.stringify({ type: 'Text', text: 'Grüße aus dem Büro\n'.repeat(10) })

const PACKAGES = fileURLToPath(new URL('./peers/', import.meta.url))

const NPM = process.env['NPM'] ?? 'npm'

const tool = findLoadTool()

interface Running extends PeerProgram {
  readonly peer: Peer
}

interface Question {
  readonly budget: BudgetId
  readonly what: string
  readonly unit: string
}

void bench(async ({ cleanup, folder }) => {
  const hasPackages = await installPackages()
  const programs = await listPeers(cleanup, folder, { hasPackages })
  const rows: Row[] = [
    ...(hasPackages ? [] : [leaveOut('B1', 'express, fastify', 'needs npm and a registry')]),
    ...['rclone', 'nginx'].flatMap((name) =>
      findProgram(name) === undefined ? [leaveOut('B1', name, `needs ${name}`)] : [],
    ),
  ]
  rows.push(
    ...(await compare(
      programs,
      { budget: 'B10', what: 'start until it accepts', unit: 'ms' },
      async ({ start }) => {
        const { startMs, stop } = await start()
        await stop()
        return startMs
      },
      { rounds: START_ROUNDS },
    )),
  )

  const running: Running[] = []
  for (const program of programs) running.push({ ...program, peer: await program.start() })
  await sleep(SETTLE_MS)
  if (usageMissing === undefined) {
    rows.push(
      ...(await compare(
        running,
        { budget: 'B9a', what: 'idle memory (nginx: its worker)', unit: 'MiB' },
        async ({ peer }) => readMemory(peer.pid).rss,
        { rounds: 1 },
      )),
    )
  }
  for (const { peer } of running) await send(peer, '/Sync.json', DOCUMENT)
  rows.push(...(await compareRequests(running, { cleanup, folder })))
  rows.push(...(await compareBodies(running)))
  return rows
})

async function compareRequests(
  running: readonly Running[],
  { cleanup, folder }: BenchContext,
): Promise<readonly Row[]> {
  const rows = await compare(
    running,
    { budget: 'B1', what: 'GET /Sync.json', unit: 'req/s' },
    ({ peer }) => askOften(peer),
    { rounds: ROUNDS },
  )
  if (!running.some(({ name }) => name === 'express')) return rows
  const careful = await startGateway(cleanup, 'express', join(folder, 'careful'), 'each')
  await send(careful, '/Sync.json', DOCUMENT)
  const [ours] = running
  if (ours === undefined) throw new Error('The daemon is missing')
  const strict = await compare(
    [ours, { ...ours, name: 'express, argon2 for each request', peer: careful }],
    { budget: 'B1', what: 'GET /Sync.json, one connection', unit: 'req/s' },
    ({ peer }) => askOneByOne(peer),
    { rounds: ROUNDS },
  )
  await careful.stop()
  return [...rows, ...strict]
}

async function compareBodies(running: readonly Running[]): Promise<readonly Row[]> {
  const sync = async (): Promise<void> => void (await execute('sync'))
  const large = '/file/large.bin'
  const put = await compare(
    running,
    { budget: 'B3b', what: 'PUT /file', unit: 'MB/s' },
    ({ peer }) => rate(() => upload({ ...peer, path: large }, BODY_BYTES)),
    { rounds: ROUNDS, prepare: sync },
  )
  const [ours] = running
  const document = { type: 'File', dataName: 'large.bin', hasData: true }
  if (ours !== undefined) await send(ours.peer, '/Sync.json', JSON.stringify(document))
  const get = await compare(
    running,
    { budget: 'B7', what: 'GET /file', unit: 'MB/s' },
    ({ peer }) => rate(() => download({ ...peer, path: large }, BODY_BYTES)),
    { rounds: ROUNDS },
  )
  const fields = { type: 'File', hash: '0'.repeat(64), text: 'form.bin' }
  const form = await compare(
    running.filter(({ takesForms }) => takesForms),
    { budget: 'B5', what: 'POST /api/history', unit: 'MB/s' },
    ({ peer }) => rate(() => uploadForm({ ...peer, path: '/api/history' }, BODY_BYTES, fields)),
    { rounds: ROUNDS, prepare: sync },
  )
  return [...put, ...get, ...form]
}

/** One row for each peer but the first, beside which they stand. */
async function compare<P extends PeerProgram>(
  peers: readonly P[],
  { budget, what, unit }: Question,
  measure: (peer: P) => Promise<number>,
  options: { readonly rounds: number; readonly prepare?: () => Promise<void> },
): Promise<readonly Row[]> {
  const contenders = peers.map((peer) => contender(() => measure(peer)))
  await alternate(contenders, { ...options, isCold: isQuick })
  const [ours, ...others] = contenders
  return others.map(({ values }, index) => {
    const baselineName = peers[index + 1]?.name ?? ''
    return explain(budget, {
      what,
      unit,
      measured: ours?.values ?? [],
      baseline: values,
      baselineName,
    })
  })
}

async function rate(run: () => Promise<unknown>): Promise<number> {
  return toRates([await timed(run)])[0] ?? Number.NaN
}

function askOften({ port, authorization }: Peer): Promise<number> {
  const header = authorization === undefined ? undefined : `Authorization: ${authorization}`
  return tool.measure({ url: `http://127.0.0.1:${port}/Sync.json`, header, seconds: SECONDS })
}

/** For servers that answer a few requests a second: 32 at once would wait for seconds. */
async function askOneByOne({ port, authorization = '' }: Peer): Promise<number> {
  const client = await RawClient.connect(port)
  const request = `GET /Sync.json HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`
  const start = performance.now()
  let [answers, seconds] = [0, 0]
  while (seconds < SECONDS) {
    const { status } = await client.send(request).read()
    if (status !== 200) throw new Error(`GET /Sync.json was answered with ${status}`)
    answers += 1
    seconds = (performance.now() - start) / 1000
  }
  client.close()
  return answers / seconds
}

async function send({ port, authorization }: Peer, path: string, body: string): Promise<void> {
  const headers = {
    'Content-Type': 'application/json',
    ...(authorization === undefined ? {} : { Authorization: authorization }),
  }
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'PUT', headers, body })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`PUT ${path} was answered with ${answer.status}`)
}

/** @returns Whether the packages of the plain gateways are there now. */
async function installPackages(): Promise<boolean> {
  try {
    if (await isInstalled()) return true
    // What they bring is built already, so that no script of theirs has to run.
    const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
    await execute(NPM, ['ci', ...options], { cwd: PACKAGES })
    return true
  } catch {
    // Without a network, for example; a row says so.
    return false
  }
}

async function isInstalled(): Promise<boolean> {
  const lock = await stat(join(PACKAGES, 'package-lock.json'))
  const marker = join(PACKAGES, 'node_modules', '.package-lock.json')
  const installed = await stat(marker).catch(() => undefined)
  return installed !== undefined && installed.mtimeMs >= lock.mtimeMs
}
