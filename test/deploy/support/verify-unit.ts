/**
 * `systemd-analyze verify`, for a unit whose program is not installed here.
 * @module
 */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** What systemd has to say about a unit; nothing, if it is well. */
export async function verifyUnit(
  t: TestContext,
  mode: '--user' | '--system',
  unit: string,
): Promise<string> {
  const folder = await temporaryFolder(t)
  const program = join(folder, '.local/bin/clipgate')
  await mkdir(join(folder, '.local/bin'), { recursive: true })
  await writeFile(program, '#!/bin/sh\n', { mode: 0o755 })
  const path = join(folder, 'clipgate.service')
  // It wants the program to be there.
  await writeFile(path, unit.replace('/usr/local/bin/clipgate', program))
  // What the machine has of its own is not to be judged.
  const env = { ...process.env, HOME: folder, XDG_RUNTIME_DIR: folder, SYSTEMD_LOG_LEVEL: 'info' }
  const { stdout, stderr, error } = spawnSync(
    'systemd-analyze',
    [mode, '--man=no', '--generators=no', 'verify', path],
    { env, encoding: 'utf8' },
  )
  assert.equal(error, undefined)
  return stdout + stderr
}
