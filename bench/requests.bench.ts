/**
 * How many small requests a second, beside a server that only sends the same bytes? (B1, B2)
 * @module
 */

import { connect } from 'node:net'
import { join } from 'node:path'
import type { AsyncCleanup } from '../src/lib/async-cleanup.ts'
import { bench } from './support/bench.ts'
import type { BudgetId } from './support/budgets.ts'
import { setUpDaemon, startDaemon, type DaemonSetup } from './support/daemon.ts'
import { findLoadTool } from './support/load.ts'
import { readCpuSeconds, usageMissing } from './support/process-usage.ts'
import { startBaseline } from './support/processes.ts'
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

interface Question extends Omit<Subject, 'budget'> {
  readonly pid: number
  readonly port: number
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
  const answer = await readAnswer(question)
  const bare = await startBaseline(cleanup, 'answer-server', JSON.stringify(parseAnswer(answer)))
  const bareQuestion = { ...question, pid: bare.pid, port: bare.port }
  const bareAnswer = await readAnswer(bareQuestion)
  if (withoutDate(bareAnswer) !== withoutDate(answer)) {
    throw new Error(`The bare server sends other bytes:\n${bareAnswer}\nbeside\n${answer}`)
  }
  const ours = contender(() => load(question))
  const baseline = contender(() => load(bareQuestion))
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

/** The bytes of one answer. */
function readAnswer({ port, path, header }: Question): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const headers = header === undefined ? '' : `${header}\r\n`
    // The second request ends the connection, and its answer shows where the first one ends.
    const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}`
    let text = ''
    socket.setEncoding('utf8').on('data', (more: string) => (text += more))
    socket.on('error', reject).on('end', () => {
      const second = text.indexOf('HTTP/1.1 ', 1)
      resolve(text.slice(0, second === -1 ? undefined : second))
    })
    socket.write(`${request}\r\n${request}Connection: close\r\n\r\n`)
  })
}

/** What Node adds to every answer of its own accord. */
const OWN_FIELDS = /^(?:date|connection|keep-alive)$/i

function parseAnswer(answer: string): { status: number; headers: string[]; body: string } {
  const end = answer.indexOf('\r\n\r\n')
  const [first = '', ...fields] = answer.slice(0, end).split('\r\n')
  const headers = fields.flatMap((field) => {
    const colon = field.indexOf(':')
    const name = field.slice(0, colon)
    return OWN_FIELDS.test(name) ? [] : [name, field.slice(colon + 1).trim()]
  })
  return { status: Number(first.split(' ')[1]), headers, body: answer.slice(end + 4) }
}

function withoutDate(answer: string): string {
  return answer.replace(/^Date: .*$/m, 'Date:')
}
