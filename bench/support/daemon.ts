/**
 * The daemon as services run it: the built program, headless, on a fresh data directory, with one
 * device.
 * @module
 */

import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAdminClient } from '../../src/control/admin-client.ts'
import type { AsyncCleanup } from '../../src/lib/async-cleanup.ts'
import type { Admin } from '../../src/ports/admin.ts'
import {
  isolatedEnvironment,
  type PairedDevice,
  type ReadyEvent,
} from '../../test/support/daemon-process.ts'
import { execute, startProcess, type StartedProcess } from './processes.ts'

/** The room for young objects that V8 makes on a machine of 512 MiB; see decision 047. */
export const SMALL_ROOM: readonly string[] = ['--max-semi-space-size=1']

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** A device that the daemon knows, on its data directory. */
export interface DaemonSetup {
  readonly env: NodeJS.ProcessEnv
  /** The value of the `Authorization` header. */
  readonly authorization: string
  /** The Node that serves it; the one that runs this unless told. */
  readonly node?: string | undefined
  /** The beginning of a command that runs others. */
  readonly wrapper?: readonly [string, ...string[]]
}

export interface Daemon extends StartedProcess {
  readonly port: number
  readonly authorization: string
  /** What its owner can do while it runs. */
  openAdmin(): Promise<Admin>
  /** Sends a request as the device. Refuses an answer that is not a success. */
  send(method: string, path: string, body?: string): Promise<void>
  /** Makes a staged file the current item. */
  push(dataName: string): Promise<void>
}

/** Makes a data directory in `folder`, with one device. */
export async function setUpDaemon(folder: string): Promise<DaemonSetup> {
  await mkdir(folder, { recursive: true })
  const env = isolatedEnvironment(folder)
  return { env, authorization: await pairDevice(env) }
}

/** Adds a device. @returns The value of its `Authorization` header. */
export async function pairDevice(env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await execute(process.execPath, [MAIN, 'pair', '--json'], { env })
  const { username, password }: PairedDevice = JSON.parse(stdout)
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/** @param mode Options that say what it is; headless unless told. */
export async function startDaemon(
  cleanup: AsyncCleanup,
  setup: DaemonSetup,
  mode: readonly string[] = ['--headless'],
  nodeOptions: readonly string[] = [],
): Promise<Daemon> {
  const { env, authorization, node = process.execPath, wrapper = [] } = setup
  const listen = ['--listen', '127.0.0.1:0', '--control', '127.0.0.1:0']
  const [program, ...args] = [...wrapper, node, ...nodeOptions, MAIN]
  const command = [program, ...args, 'serve', ...mode, '--json', ...listen] as const
  const started = await startProcess(cleanup, command, env)
  const { gateway, control }: ReadyEvent = JSON.parse(started.firstLine)
  async function send(method: string, path: string, body?: string): Promise<void> {
    const answer = await fetch(`${gateway}${path}`, {
      method,
      headers: { Authorization: authorization },
      ...(body === undefined ? {} : { body }),
    })
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${method} was answered with ${answer.status}`)
  }
  return {
    ...started,
    port: Number(new URL(gateway).port),
    authorization,
    openAdmin: async () => {
      const path = join(env['CLIPGATE_DATA_DIR'] ?? '', 'control.token')
      return createAdminClient({ url: control, token: (await readFile(path, 'utf8')).trim() })
    },
    send,
    push: (dataName) =>
      send('PUT', '/Sync.json', JSON.stringify({ type: 'File', dataName, hasData: true })),
  }
}
