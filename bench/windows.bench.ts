/**
 * How long until a phone knows of a copy on Windows, and what does all of it take of the processor
 * while nobody does anything? (B17)
 *
 * With `node.exe` below Wine, whose own time is in the figures: they are more than those of Windows
 * would be. The program that copies is written in C, and says when it began.
 * @module
 */

import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect } from '../src/client/connect.ts'
import { COMPILER, ForeignProgram } from '../test/windows/support/foreign.ts'
import { needsWine, WindowsMachine } from '../test/windows/support/wine.ts'
import { needs } from '../test/support/requirements.ts'
import { Xvfb } from '../test/support/xvfb.ts'
import { bench, type BenchContext } from './support/bench.ts'
import { readCpuSeconds, usageMissing } from './support/process-usage.ts'
import { isQuick } from './support/rounds.ts'
import { judge, skip, type Row } from './support/row.ts'

const MAIN = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

const ROUNDS = isQuick ? 10 : 40

/** Between two copies, so that each is shared before the next. */
const PAUSE_MS = 250

/** A worker is ended after ten seconds, and an engine gives back memory a while after that. */
const REST_MS = isQuick ? 3000 : 30_000
const IDLE_SECONDS = isQuick ? 3 : 20

void bench(async (context) => {
  const missing = needsWine().skip || needs('Xvfb', COMPILER).skip || usageMissing
  if (!missing) return measure(context)
  return [skip('B17 windows copy', missing), skip('B17 windows idle', missing)]
})

async function measure({ cleanup }: BenchContext): Promise<readonly Row[]> {
  const server = await Xvfb.start()
  cleanup.add(() => server.stop())
  const machine = await WindowsMachine.start('22', server.display)
  cleanup.add(() => machine.stop())
  const foreign = await ForeignProgram.build(machine)
  const run = (...args: readonly string[]) =>
    machine.node(machine.toWindows(MAIN), ...args, '--data-dir', 'C:\\data')
  const ports = ['--listen', '127.0.0.1:0', '--control', '127.0.0.1:0']
  const { gateway } = JSON.parse(await run('serve', '--json', ...ports).line())
  const pairing = run('pair', '--json')
  await pairing.ended()
  const { username, password } = JSON.parse(await pairing.stdout())

  const ending = new AbortController()
  const client = connect({ url: gateway, username, password })
  const documents = client.watch({ signal: ending.signal })
  const copying = foreign.run('changes', String(ROUNDS + 1), String(PAUSE_MS))
  const seen: number[] = []
  while (seen.length <= ROUNDS) {
    const { value } = await documents.next()
    const [, number] = /^change (\d+)$/.exec(value?.text ?? '') ?? []
    // One that was overtaken counts until the one that came instead.
    while (seen.length < Number(number ?? 0)) seen.push(performance.timeOrigin + performance.now())
  }
  const begun = [...(await copying).matchAll(/^begins (\d+)$/gm)].map(([, at]) => Number(at) / 1000)
  // What is done for the first time takes longer.
  const times = begun.map((at, index) => (seen[index] ?? Number.NaN) - at).slice(1)

  await sleep(REST_MS)
  const before = cpuOf(machine)
  await sleep(1000 * IDLE_SECONDS)
  const idle = (100 * (cpuOf(machine) - before)) / IDLE_SECONDS
  ending.abort()
  return [
    judge('B17 windows copy', { measured: [worstOf(times)], note: `${ROUNDS} rounds` }),
    judge('B17 windows idle', { measured: [idle], note: `${IDLE_SECONDS} s, one stream open` }),
  ]
}

/** Processor time of all that runs on a machine, Wine's own programs too, in seconds. */
function cpuOf(machine: WindowsMachine): number {
  const prefix = `WINEPREFIX=${dirname(machine.drive)}`
  const isThere = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(prefix)
    } catch {
      return false
    }
  }
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isThere(name))
  return pids.reduce((sum, pid) => sum + readCpuSeconds(Number(pid)), 0)
}

/** All but the worst tenth. */
function worstOf(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.ceil(times.length * 0.9) - 1] ?? Number.NaN
}
