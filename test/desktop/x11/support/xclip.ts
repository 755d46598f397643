/** A foreign program: xclip, which copies and pastes with the libraries of X. @module */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { XClient } from './x-client.ts'

/** Copies `bytes`; resolves when xclip owns the clipboard. Ends with the test. */
export async function xclipCopy(
  t: TestContext,
  display: string,
  bytes: string | Uint8Array,
  target?: string,
): Promise<void> {
  const watcher = await XClient.open(t, display)
  // `-quiet` keeps it in the foreground, where it can be ended.
  const options = target === undefined ? [] : ['-t', target]
  const args = ['-quiet', '-i', '-selection', 'clipboard', ...options]
  const xclip = spawn('xclip', args, { env: { DISPLAY: display, PATH: process.env['PATH'] } })
  const ended = once(xclip, 'exit')
  t.after(async () => {
    xclip.kill()
    await ended
  })
  xclip.stdin.end(bytes)
  await watcher.nextOwner()
  await watcher.connection.close()
}

/** Pastes; `undefined` when xclip fails because there is no such target. */
export async function xclipPaste(display: string, target: string): Promise<Buffer | undefined> {
  const args = ['-o', '-selection', 'clipboard', '-t', target]
  const xclip = spawn('xclip', args, { env: { DISPLAY: display, PATH: process.env['PATH'] } })
  const chunks: Buffer[] = []
  xclip.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [code] = await once(xclip, 'close')
  return code === 0 ? Buffer.concat(chunks) : undefined
}

/** Pastes until that gives `wanted`: programs paste when a person says so, not before. */
export async function pasteUntil(
  display: string,
  target: string,
  wanted: string | Uint8Array,
): Promise<void> {
  while ((await xclipPaste(display, target))?.equals(Buffer.from(wanted)) !== true);
}
