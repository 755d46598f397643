/**
 * The daemon under soak: the built program, headless, on a fresh data directory, with a probe of
 * its heap.
 * @module
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { createAdminClient } from '../../src/control/admin-client.ts'
import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'
import type { Admin } from '../../src/ports/admin.ts'
import { isolatedEnvironment, type ReadyEvent } from '../../test/support/daemon-process.ts'
import { readMemory } from '../support/process-usage.ts'

/** As it is shipped. */
export const PROGRAM: string = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const PROBE = new URL('./heap-probe.js', import.meta.url).href

/** Uploads that nobody describes expire during the run, and streams are pinged often. */
const SETTINGS = ['--staging-ttl', '30s', '--heartbeat', '2s', '--log-level', 'info']

/** What a process holds. Memory in MiB. */
export interface Usage {
  readonly rss: number
  readonly anonymous: number
  readonly descriptors: number
  readonly threads: number
}

/** What is left after a collection. In MiB. */
export interface Heap {
  readonly used: number
  readonly external: number
}

export interface SoakedDaemon {
  readonly pid: number
  readonly gateway: string
  readonly admin: Admin
  readonly dataDir: string
  /** Lines of its log. */
  readonly log: readonly string[]
  usage(): Usage
  /** Files and sockets that are open, without numbers that differ each time. */
  openThings(): readonly string[]
  /** Collects all garbage first. */
  heap(): Promise<Heap>
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>
}

export async function startSoakedDaemon(
  cleanup: AsyncCleanup,
  folder: string,
): Promise<SoakedDaemon> {
  const node = ['--expose-gc', `--import=${PROBE}`, PROGRAM]
  const listen = ['--listen', '127.0.0.1:0', '--control', '127.0.0.1:0']
  const args = [...node, 'serve', '--headless', '--json', ...listen, ...SETTINGS]
  const child = spawn(process.execPath, args, {
    env: isolatedEnvironment(folder),
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  cleanup.add(async () => {
    child.kill('SIGKILL')
    await closed
  })
  const log: string[] = []
  const [, stdout, stderr, probe] = child.stdio
  if (stdout === null || stderr === null || !(probe instanceof Readable)) {
    throw new Error('Cannot start the daemon: there is no pipe')
  }
  createInterface({ input: stderr }).on('line', (line) => log.push(line))
  const heaps = createInterface({ input: probe })[Symbol.asyncIterator]()

  const ended = closed.then(() => {
    throw new Error(`The daemon ended: ${log.join('\n')}`)
  })
  // It does end, at last; that is awaited elsewhere.
  ended.catch(() => undefined)
  const lines = createInterface({ input: stdout })
  const [line] = await Promise.race([once(lines, 'line'), ended])
  const { gateway, control, pid }: ReadyEvent = JSON.parse(String(line))
  const dataDir = join(folder, 'data')
  const token = (await readFile(join(dataDir, 'control.token'), 'utf8')).trim()
  return {
    pid,
    gateway,
    dataDir,
    log,
    admin: createAdminClient({ url: control, token }),
    usage: () => readUsage(pid),
    openThings: () => openThings(pid),
    heap: async () => {
      child.kill('SIGURG')
      const { value } = await heaps.next()
      const { heapUsed, external } = JSON.parse(String(value))
      return { used: heapUsed / 2 ** 20, external: external / 2 ** 20 }
    },
    stop: async () => {
      child.kill('SIGTERM')
      await closed
      return child.exitCode
    },
  }
}

function readUsage(pid: number): Usage {
  const { rss, anonymous } = readMemory(pid)
  const [, threads] = /^Threads:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  const descriptors = readdirSync(`/proc/${pid}/fd`).length
  return { rss, anonymous, descriptors, threads: Number(threads) }
}

function openThings(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`
  const targets = readdirSync(folder).map((name) => {
    try {
      return readlinkSync(join(folder, name))
    } catch {
      // Closed meanwhile.
      return ''
    }
  })
  return targets
    .map((target) => target.replace(/\[\d+\]/, '[…]'))
    .filter(Boolean)
    .sort()
}
