/**
 * Runs bench files, each in a process of its own.
 * @module
 */

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import type { Findings } from './findings.ts'
import { isQuick } from './rounds.ts'

export interface RunFindings extends Findings {
  /** Paths of those that failed. */
  readonly crashed: readonly string[]
}

/**
 * What these find are rates and times, so they run alone. The others mostly wait for memory to be
 * given back, or find figures that say nothing in a quick run anyway: there they run all at once.
 */
const ALONE: readonly string[] = [
  'connect-link.bench.ts',
  'download.bench.ts',
  'multipart.bench.ts',
  'multipart-upload.bench.ts',
  'requests.bench.ts',
  'start.bench.ts',
  'upload.bench.ts',
]

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

const running = new Set<ChildProcess>()

/** One after the other, but for a quick run. */
export async function runFiles(paths: readonly string[]): Promise<RunFindings> {
  for (const signal of SIGNALS) process.once(signal, endAll)
  const together = paths.filter((path) => isQuick && !ALONE.includes(basename(path)))
  const found = await Promise.all(together.map(runFile))
  for (const path of paths) {
    if (!together.includes(path)) found.push(await runFile(path))
  }
  for (const signal of SIGNALS) process.off(signal, endAll)
  return {
    rows: found.flatMap(({ findings }) => findings?.rows ?? []),
    curves: found.flatMap(({ findings }) => findings?.curves ?? []),
    crashed: found.filter(({ findings }) => findings === undefined).map(({ path }) => path),
  }
}

async function runFile(
  path: string,
): Promise<{ readonly path: string; readonly findings: Findings | undefined }> {
  console.log(`\n${basename(path)}`)
  const start = performance.now()
  const child = fork(path)
  running.add(child)
  let findings: Findings | undefined
  // Only our own files are on the other side.
  child.on('message', (message) => (findings = message as Findings))
  const [code] = await once(child, 'exit')
  running.delete(child)
  console.log(`${basename(path)}: ${((performance.now() - start) / 1000).toFixed(0)} s`)
  return { path, findings: code === 0 ? findings : undefined }
}

/** They have processes and files of their own to remove. */
function endAll(signal: NodeJS.Signals): void {
  void (async () => {
    const children = [...running]
    const ended = children.map((child) => once(child, 'exit'))
    for (const child of children) child.kill(signal)
    await Promise.all(ended)
    process.exit(1)
  })()
}
