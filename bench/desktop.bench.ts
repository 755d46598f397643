/**
 * How long until a phone knows of a copy, and until a program can paste what a phone pushed? What
 * does a daemon take of the processor while nobody does anything? (B17)
 *
 * On a real X server and a real Wayland compositor, with the daemon as users run it. The phone is a
 * client that waits in `watch()`; programs that copy and paste are X clients of their own, or
 * wl-copy and wl-paste, whose start is in the time.
 * @module
 */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../src/client/connect.ts'
import type { AsyncCleanup } from '../src/lib/async-cleanup.ts'
import { XClient } from '../test/desktop/x11/support/x-client.ts'
import { Sway, SWAY_TOOLS } from '../test/support/sway.ts'
import { Xvfb } from '../test/support/xvfb.ts'
import { bench, type BenchContext } from './support/bench.ts'
import { setUpDaemon, startDaemon, type Daemon } from './support/daemon.ts'
import { readChildren, readCpuSeconds, usageMissing } from './support/process-usage.ts'
import { isQuick } from './support/rounds.ts'
import { judge, skip, type Row } from './support/row.ts'

const ROUNDS = isQuick ? 10 : 40

const IDLE_SECONDS = isQuick ? 3 : 20

/**
 * After the last use: a worker is ended after ten seconds, and an engine gives back memory a while
 * after that.
 */
const REST_MS = isQuick ? 3000 : 30_000

/** A program of the desktop. */
interface Program {
  copy(text: string): Promise<void>
  /** Resolves when `text` was pasted, in a program that waits for it. */
  pasted(text: string): Promise<unknown>
}

void bench(async (context) => [...(await measureX11(context)), ...(await measureWayland(context))])

async function measureX11({ cleanup, folder }: BenchContext): Promise<readonly Row[]> {
  const missing = missingOf(['Xvfb'])
  if (missing !== undefined)
    return (['x11 copy', 'x11 paste', 'x11 idle'] as const).map((name) =>
      skip(`B17 ${name}`, missing),
    )
  const server = await Xvfb.start()
  cleanup.add(() => server.stop())
  const daemon = await start(cleanup, join(folder, 'x11'), { DISPLAY: server.display })
  const client = await XClient.open(
    { after: (run) => cleanup.add(async () => void (await run())) },
    server.display,
  )
  const program: Program = {
    copy: (text) => client.copy({ UTF8_STRING: text }),
    pasted: async (text) => {
      for (;;) {
        const { owner } = await client.next('ownerChanged')
        if (owner === client.window) continue
        if (String(await client.paste('UTF8_STRING')) === text) return
      }
    },
  }
  return measure('x11', daemon, program)
}

async function measureWayland({ cleanup, folder }: BenchContext): Promise<readonly Row[]> {
  const missing = missingOf(SWAY_TOOLS)
  if (missing !== undefined)
    return (['wayland copy', 'wayland paste', 'wayland idle'] as const).map((name) =>
      skip(`B17 ${name}`, missing),
    )
  const compositor = await Sway.start()
  cleanup.add(() => compositor.stop())
  const env = { ...process.env, ...compositor.env }
  const daemon = await start(cleanup, join(folder, 'wayland'), compositor.env)
  const watcher = spawn('wl-paste', ['--no-newline', '--watch', 'sh', '-c', 'cat; echo'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  cleanup.add(async () => void watcher.kill())
  const lines = createInterface({ input: watcher.stdout })[Symbol.asyncIterator]()
  const program: Program = {
    copy: async (text) => {
      const copier = spawn('wl-copy', ['--type', 'text/plain;charset=utf-8'], {
        env,
        stdio: ['pipe', 'ignore', 'ignore'],
      })
      copier.stdin.end(text)
      await once(copier, 'exit')
    },
    pasted: async (text) => {
      while ((await lines.next()).value !== text);
    },
  }
  return measure('wayland', daemon, program)
}

async function start(
  cleanup: AsyncCleanup,
  folder: string,
  desktop: Readonly<Record<string, string>>,
): Promise<Daemon> {
  const setup = await setUpDaemon(folder)
  return startDaemon(cleanup, { ...setup, env: { ...setup.env, ...desktop } }, [])
}

async function measure(
  name: 'x11' | 'wayland',
  daemon: Daemon,
  program: Program,
): Promise<readonly Row[]> {
  const [username = '', password = ''] = atob(daemon.authorization.slice('Basic '.length)).split(
    ':',
  )
  const ending = new AbortController()
  const client = connect({ url: `http://127.0.0.1:${daemon.port}`, username, password })
  const documents = client.watch({ signal: ending.signal })
  const seen = async (text: string): Promise<void> => {
    for (;;) if ((await documents.next()).value?.text === text) return
  }
  await daemon.send('PUT', '/Sync.json', JSON.stringify({ type: 'Text', text: 'warm' }))
  await seen('warm')
  const copies: number[] = []
  const pastes: number[] = []
  // One kind after the other: in turns they are taken for a loop of two programs, and stopped.
  for (let round = 0; round < ROUNDS; round++) {
    const text = `copy ${round}`
    const begun = performance.now()
    await Promise.all([program.copy(text), seen(text)])
    copies.push(performance.now() - begun)
  }
  for (let round = 0; round < ROUNDS; round++) {
    const text = `push ${round}`
    const pasted = program.pasted(text)
    const begun = performance.now()
    await daemon.send('PUT', '/Sync.json', JSON.stringify({ type: 'Text', text }))
    await pasted
    pastes.push(performance.now() - begun)
    await seen(text)
  }
  await sleep(REST_MS)
  const before = cpuOf(daemon.pid)
  await sleep(1000 * IDLE_SECONDS)
  const idle = (100 * (cpuOf(daemon.pid) - before)) / IDLE_SECONDS
  ending.abort()
  const note = `${ROUNDS} rounds`
  return [
    judge(`B17 ${name} copy`, { measured: [worstOf(copies)], note }),
    judge(`B17 ${name} paste`, { measured: [worstOf(pastes)], note }),
    usageMissing === undefined
      ? judge(`B17 ${name} idle`, { measured: [idle], note: `${IDLE_SECONDS} s, one stream open` })
      : skip(`B17 ${name} idle`, usageMissing),
  ]
}

/** Processor time of a process and of what it has started, in seconds. */
function cpuOf(pid: number): number {
  return [pid, ...readChildren(pid)].reduce((sum, each) => sum + readCpuSeconds(each), 0)
}

/** All but the worst tenth. */
function worstOf(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.ceil(times.length * 0.9) - 1] ?? Number.NaN
}

function missingOf(tools: readonly string[]): string | undefined {
  const missing = tools.filter((tool) => spawnSync('which', [tool]).status !== 0)
  return missing.length === 0 ? undefined : `needs ${missing.join(', ')}`
}
