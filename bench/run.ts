/**
 * Runs bench files, each in a process of its own, and sums up what they found:
 * `bench/results/latest.json` and a table.
 *
 * `QUICK=1` has fewer rounds and smaller bodies. `GUARD=1` makes a missed floor a failure; a bench
 * that crashes always is one.
 *
 * @module
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { arch, availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os'
import { basename } from 'node:path'
import { printRows } from './support/print-rows.ts'
import { isQuick } from './support/rounds.ts'
import type { Row } from './support/row.ts'

const RESULTS = new URL('./results/', import.meta.url)

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

const machine = {
  node: process.version,
  system: `${type()} ${release()} ${arch()}`,
  processor: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  /** Of the minute before: what other programs did. Figures of a busy machine say little. */
  load: Number((loadavg()[0] ?? 0).toFixed(1)),
}

void main(process.argv.slice(2))

async function main(files: readonly string[]): Promise<void> {
  if (files.length === 0) throw new Error('No bench files were given')
  const rows: Row[] = []
  const crashed: string[] = []
  for (const file of files) {
    console.log(`\n${file}`)
    const found = await runFile(file)
    if (found === undefined) crashed.push(file)
    else rows.push(...found)
  }
  const result = { at: new Date().toISOString(), ...machine, isQuick, rows }
  await mkdir(RESULTS, { recursive: true })
  await writeFile(new URL('latest.json', RESULTS), `${JSON.stringify(result, undefined, 2)}\n`)

  const { node, system, processor, cores, memoryGiB, load } = machine
  const size = `${cores} cores of ${processor}, ${memoryGiB} GiB, load ${load} before`
  console.log(`\n${isQuick ? 'QUICK, ' : ''}Node ${node}, ${system}, ${size}\n`)
  printRows(rows)
  for (const file of crashed) console.log(`\n${basename(file)} crashed`)

  const isMissed = rows.some(({ verdict }) => verdict === 'MISSED')
  if (crashed.length > 0 || (isMissed && process.env['GUARD'] === '1')) process.exitCode = 1
}

/** @returns `undefined` when it crashed. */
async function runFile(file: string): Promise<readonly Row[] | undefined> {
  const child = fork(file)
  for (const signal of SIGNALS) {
    // It has processes and files of its own to remove.
    process.once(signal, () => child.kill(signal) && child.once('exit', () => process.exit(1)))
  }
  let rows: readonly Row[] | undefined
  // Only our own files are on the other side.
  child.on('message', (message) => (rows = message as readonly Row[]))
  const [code] = await once(child, 'exit')
  for (const signal of SIGNALS) process.removeAllListeners(signal)
  return code === 0 ? rows : undefined
}
