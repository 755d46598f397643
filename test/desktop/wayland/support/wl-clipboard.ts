/** Foreign programs on a Wayland desktop: wl-copy and wl-paste, used as a person would. @module */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Sway } from '../../../support/sway.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { done } from '../../support/open-reconciler.ts'

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

/** Tools as of wl-clipboard 2.2 and newer, whose watch also tells that nothing is there. */
export async function newerTools(t: TestContext) {
  const folder = await temporaryFolder(t)
  const told = join(folder, 'told')
  const script = `#!/bin/sh
PATH=\${PATH#*:}
[ "$1" = --watch ] || exec wl-paste "$@"
shift
wl-paste --list-types >/dev/null 2>&1 || CLIPBOARD_STATE=nil "$@"
touch ${told}
exec wl-paste --watch sh -c 'CLIPBOARD_STATE=\${CLIPBOARD_STATE:-data} exec "$@"' sh "$@"
`
  await writeFile(join(folder, 'wl-paste'), script, { mode: 0o755 })
  return {
    PATH: `${folder}:${process.env['PATH']}`,
    /** Resolves when its watch has run its command for what is there first. */
    untilTold: async (): Promise<void> => {
      while (!existsSync(told)) await done()
    },
  }
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
