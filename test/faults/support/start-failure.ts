/**
 * How a daemon fails to start.
 * @module
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { daemonCommand, type DaemonOptions } from '../../support/daemon-process.ts'

export interface StartFailure {
  readonly code: number | null
  readonly stderr: string
}

/** Starts a daemon that is to fail, and waits for its end. */
export async function failToStart(
  t: TestContext,
  folder: string,
  options: DaemonOptions,
): Promise<StartFailure> {
  const child = daemonCommand(folder, options).spawn()
  t.after(() => child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    child.kill('SIGKILL')
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  await once(child, 'close')
  assert.equal(stdout, '', `it started; ${stderr}`)
  return { code: child.exitCode, stderr }
}
