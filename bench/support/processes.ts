/**
 * Programs under test, each in a process of its own that ends with the bench.
 * @module
 */

import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'

export interface StartedProcess {
  readonly pid: number
  /** What it printed first. */
  readonly firstLine: string
  /** From asking the system for the process to that line. */
  readonly startMs: number
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>
}

export const execute = promisify(execFile)

/**
 * All that a program under test gets: some variables, such as `NODE_EXTRA_CA_CERTS`, double the
 * start of Node.
 */
const BARE_ENVIRONMENT: NodeJS.ProcessEnv = { PATH: process.env['PATH'] }

/** Starts a program and waits until it prints a line, which is how it says that it is ready. */
export async function startProcess(
  cleanup: AsyncCleanup,
  command: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv = BARE_ENVIRONMENT,
): Promise<StartedProcess> {
  const [program, ...args] = command
  const start = performance.now()
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const stop = (): Promise<void> => end(child)
  cleanup.add(stop)
  const firstLine = await readFirstLine(child)
  const startMs = performance.now() - start
  if (child.pid === undefined) throw new Error(`Cannot start "${program}"`)
  return { pid: child.pid, firstLine, startMs, stop }
}

/**
 * Starts one of the bare servers.
 *
 * @param node The program that runs it; the one that runs this unless told.
 */
export async function startBaseline(
  cleanup: AsyncCleanup,
  name: 'answer-server' | 'sink-server' | 'stream-server',
  argument?: string,
  node: string = process.execPath,
): Promise<StartedProcess & { readonly port: number }> {
  const path = fileURLToPath(new URL(`../baseline/${name}.js`, import.meta.url))
  const args = argument === undefined ? [] : [argument]
  const started = await startProcess(cleanup, [node, path, ...args])
  return { ...started, port: Number(started.firstLine) }
}

/** Where a program is; `undefined` when it is not installed. */
export function findProgram(name: string): string | undefined {
  // Debian keeps servers in sbin, which is not on every user's path.
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child.removeAllListeners('exit'), 'exit')
  child.kill('SIGTERM')
  await exited
}

function readFirstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let stdout = ''
    let stderr = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const end = stdout.indexOf('\n')
      if (end !== -1) resolve(stdout.slice(0, end))
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.on('error', reject).on('exit', () => {
      // Once it was ready, whoever talks to it fails for a reason that only this tells.
      console.error(stderr)
      reject(new Error('A program under test ended by itself'))
    })
  })
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // Not there, or not for us: the next folder may have it.
    return false
  }
}
