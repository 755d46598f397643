/** Makes system calls of a running program fail, or end it, with `strace`. @module */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { needs } from '../../support/requirements.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Options for `it()`. A container may forbid tracing, which no package can change. */
export const needsTracing: { readonly skip: string | false } = findOut()

export interface Injection {
  /** Names of calls, as strace takes them: `rename`, `fsync,fdatasync`. */
  readonly calls: string
  /** What happens to them: `error=ENOSPC`, `signal=KILL:when=3`. */
  readonly fault: string
  /** Only to those with one of these paths. */
  readonly paths?: readonly string[]
}

/** A fault that lets a call stand still until the process is let go. */
export const STANDSTILL = 'delay_enter=1800000000'

/** Breaks a process, all threads of it, from when this resolves on. @returns Lets it go. */
export function inject(
  t: TestContext,
  pid: number,
  { calls, fault, paths = [] }: Injection,
): Promise<() => Promise<void>> {
  const only = paths.flatMap((path) => ['-P', path])
  const rules = ['-e', `trace=${calls}`, '-e', `inject=${calls}:${fault}`]
  return trace(t, pid, ['-o', '/dev/null', ...only, ...rules])
}

/**
 * Writes down what a process calls, from when this resolves on.
 *
 * @returns Lets it go, and tells how often each call came, of those that came at all.
 */
export async function countCalls(
  t: TestContext,
  pid: number,
  calls: string,
): Promise<() => Promise<ReadonlyMap<string, number>>> {
  const path = join(await temporaryFolder(t), 'calls')
  const letGo = await trace(t, pid, ['-o', path, '-e', `trace=${calls}`])
  return async () => {
    await letGo()
    const counts = new Map<string, number>()
    for (const [, call = ''] of (await readFile(path, 'utf8')).matchAll(/^\d+ +(\w+)\(/gm)) {
      counts.set(call, (counts.get(call) ?? 0) + 1)
    }
    return counts
  }
}

async function trace(
  t: TestContext,
  pid: number,
  rules: readonly string[],
): Promise<() => Promise<void>> {
  const args = ['-f', ...rules, '-p', String(pid)]
  const tracer = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const exit = once(tracer, 'exit')
  const stop = async (): Promise<void> => {
    tracer.kill('SIGINT')
    await exit
  }
  t.after(async () => {
    // One whose process has ended while a call stood still would wait for that call.
    tracer.kill('SIGKILL')
    if (tracer.exitCode === null && tracer.signalCode === null) await exit
  })
  let said = ''
  for await (const text of tracer.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += text
    if (/Process \d+ attached/.test(said)) break
  }
  if (tracer.exitCode !== null) throw new Error(`Cannot trace: ${said}`)
  tracer.stderr.resume()
  return stop
}

function findOut(): { readonly skip: string | false } {
  const { skip } = needs('strace')
  if (skip !== false) return { skip }
  const { status } = spawnSync('strace', ['-o', '/dev/null', 'true'])
  return { skip: status === 0 ? false : 'skipped: needs the right to trace' }
}
