/**
 * A headless daemon of the built program, and what most tests of faults do with it first.
 * @module
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import {
  daemonCommand,
  type DaemonOptions,
  type DaemonProcess,
  startDaemonProcess,
} from '../../support/daemon-process.ts'
import { ownerOf } from '../../support/owner.ts'
import { createPhone, type Phone } from '../../support/phone.ts'
import { isTlsSpoken, noteTwin } from '../../support/secure-twin.ts'
import { buildProgram } from './built-program.ts'

export const { main, files } = await buildProgram()

/** Options of a headless daemon, with more arguments. */
export function headless({ args = [], ...options }: DaemonOptions = {}): DaemonOptions {
  return { main, ...options, args: ['--headless', ...args] }
}

export async function startHeadless(
  t: TestContext,
  options: DaemonOptions = {},
): Promise<DaemonProcess> {
  if (!isTlsSpoken()) return startDaemonProcess(t, headless(options))
  const { args = [] } = options
  const tls = ['--tls', 'local', '--tls-listen', '127.0.0.1:0']
  const daemon = await startDaemonProcess(t, headless({ ...options, args: [...args, ...tls] }))
  const { listeners } = await (await ownerOf(daemon)).status()
  const [url = ''] = listeners.find(({ name }) => name === 'tls')?.urls ?? []
  noteTwin(t, Number(new URL(daemon.ready.gateway).port), Number(new URL(url).port))
  return daemon
}

export type Paired = Awaited<ReturnType<typeof startPaired>>

/** Starts a daemon with a phone, which is paired early unless the options say otherwise. */
export async function startPaired(t: TestContext, options?: DaemonOptions) {
  const daemon = await startHeadless(t, { devices: ['Phone'], ...options })
  const device = await daemon.pair('Phone')
  return { daemon, device, phone: createPhone(device, daemon.ready.gateway) }
}

/** Starts a daemon that is to fail, and waits for its end. */
export async function failToStart(t: TestContext, folder: string, options?: DaemonOptions) {
  const child = daemonCommand(folder, headless(options)).spawn()
  t.after(() => child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    child.kill('SIGKILL')
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  await once(child, 'close')
  assert.equal(stdout, '', `it started; ${stderr}`)
  return { code: child.exitCode, stderr }
}

/** Uploads bytes that nothing names yet. */
export async function stage(phone: Phone, name: string, body: string | Uint8Array): Promise<void> {
  const response = await phone.fetch(`/file/${encodeURIComponent(name)}`, { method: 'PUT', body })
  assert.equal(response.status, 200, await response.text())
}

/** Names what waits, to make it the item. @returns The status of the answer. */
export async function commit(phone: Phone, dataName: string): Promise<number> {
  const body = JSON.stringify({ type: 'File', dataName, hasData: true })
  return (await phone.fetch('/Sync.json', { method: 'PUT', body })).status
}

/** Makes what waits the item. @returns Its bytes, as text. */
export async function take(phone: Phone, dataName: string): Promise<string> {
  assert.equal(await commit(phone, dataName), 200, dataName)
  return String(await phone.download())
}
