/**
 * Which source files does a warm request enter? `make paths` lists them by V8's call counts, for a
 * daemon without a desktop and a client on a kept-alive connection that has logged in before. What
 * runs while nobody asks for anything is left out; workers are threads of their own, and not seen.
 * @module
 */

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request, type IncomingMessage } from 'node:http'
import { Session, type Profiler } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { startDaemon } from '../src/index.ts'

const SOURCES = pathToFileURL(fileURLToPath(new URL('../src/', import.meta.url))).href

/** So often, that everything that is made once has been. */
const WARM_UPS = 5

/** What is written or hashed behind an answer is done by then. */
const REST_MS = 500

interface Question {
  readonly method: string
  readonly path: string
  readonly body?: string | Uint8Array
}

/** Numbered, so that no two uploads are the same. */
const QUESTIONS: Readonly<Record<string, (count: number) => Question>> = {
  'PUT /file of 300 kB': (count) => ({
    method: 'PUT',
    path: `/file/${count}.bin`,
    body: Buffer.alloc(300_000, `${count},`),
  }),
  'PUT of a text': (count) => ({
    method: 'PUT',
    path: '/SyncClipboard.json',
    body: JSON.stringify({ type: 'Text', text: `text ${count}`, hasData: false }),
  }),
  'GET of the document (a poll)': () => ({ method: 'GET', path: '/SyncClipboard.json' }),
}

const folder = await mkdtemp(join(tmpdir(), 'clipgate-paths-'))
const daemon = await startDaemon({
  dataDir: folder,
  listen: [{ host: '127.0.0.1', port: 0 }],
  control: { host: '127.0.0.1', port: 0 },
  headless: true,
  minFreeBytes: 0,
  logLevel: 'error',
})
const { username, password } = await daemon.admin.pair({
  kind: 'phone',
  label: 'Paths',
  username: undefined,
  password: undefined,
  url: undefined,
})
const login = { authorization: `Basic ${btoa(`${username}:${password}`)}` }
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

async function ask({ method, path, body }: Question): Promise<void> {
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  const outgoing = request(new URL(path, daemon.ready.gateway), {
    method,
    agent,
    headers: { ...login, ...length },
  })
  const answered = once(outgoing.end(body), 'response') as Promise<[IncomingMessage]>
  const [answer] = await answered
  const said = await text(answer)
  if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${said}`)
}

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

/** Functions of our sources that were called since it was last asked, by file. */
async function takeCalls(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const { result } = (await session.post(
    'Profiler.takePreciseCoverage',
  )) as Profiler.TakePreciseCoverageReturnType
  const calls = new Map<string, Set<string>>()
  for (const { url, functions } of result) {
    if (!url.startsWith(SOURCES)) continue
    const called = functions
      // What begins where the file does is the module itself, which runs when it is loaded.
      .filter(
        ({ ranges: [range] }) => range !== undefined && range.startOffset > 0 && range.count > 0,
      )
      .map(({ functionName, ranges }) => `${functionName}@${ranges[0]?.startOffset}`)
    if (called.length > 0) calls.set(url.slice(SOURCES.length), new Set(called))
  }
  return calls
}

for (const [name, question] of Object.entries(QUESTIONS)) {
  for (let count = 0; count < WARM_UPS; count += 1) await ask(question(count))
  await wait(REST_MS)
  await takeCalls()
  await wait(REST_MS)
  const idle = await takeCalls()
  await ask(question(WARM_UPS))
  await wait(REST_MS)
  const rows = [...(await takeCalls())].map(([path, called]): [string, number] => {
    return [path, [...called].filter((one) => idle.get(path)?.has(one) !== true).length]
  })
  const entered = rows.filter(([, count]) => count > 0).sort()
  const functions = entered.reduce((sum, [, count]) => sum + count, 0)
  console.log(`\n${name}: ${entered.length} files, ${functions} functions`)
  for (const [path, count] of entered) console.log(`  ${String(count).padStart(3)}  ${path}`)
}

session.disconnect()
agent.destroy()
await daemon.stop()
await rm(folder, { recursive: true })
