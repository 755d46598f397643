/** Foreign programs on a Wayland desktop: wl-copy and wl-paste, used as a person would. @module */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import type { Sway } from '../../../support/sway.ts'

type SwayEnv = Sway['env']

/** Copies `bytes`; resolves when wl-copy owns the clipboard. Ends with the test. */
export async function wlCopy(
  t: TestContext,
  env: SwayEnv,
  bytes: string | Uint8Array,
  type = 'text/plain;charset=utf-8',
): Promise<void> {
  // Another process of its goes on in the background.
  const child = spawn('wl-copy', ['--type', type], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  t.after(() => clear(env))
  child.stdin.end(bytes)
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`wl-copy ended with ${code}`)
}

/** Pastes one format; `undefined` when it is not offered. */
export function wlPaste(env: SwayEnv, type: string): Promise<Buffer | undefined> {
  return run(env, '--no-newline', '--type', type)
}

/** Pastes until that gives `wanted`: programs paste when a person says so, not before. */
export async function pasteUntil(
  env: SwayEnv,
  type: string,
  wanted: string | Uint8Array,
): Promise<void> {
  while ((await wlPaste(env, type))?.equals(Buffer.from(wanted)) !== true);
}

/** The formats that are offered. */
export async function listTypes(env: SwayEnv): Promise<readonly string[]> {
  const list = await run(env, '--list-types')
  return list === undefined ? [] : list.toString().trim().split('\n')
}

async function run(env: SwayEnv, ...args: readonly string[]): Promise<Buffer | undefined> {
  const child = spawn('wl-paste', args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [code] = await once(child, 'close')
  return code === 0 ? Buffer.concat(chunks) : undefined
}

/** Empties the clipboard, so that whoever filled it ends, and removes its file. */
export async function clear(env: SwayEnv): Promise<void> {
  const options = { env: { ...process.env, ...env }, stdio: 'ignore' } as const
  await once(spawn('wl-copy', ['--clear'], options), 'exit')
}
