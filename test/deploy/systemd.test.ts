import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { defaultListen, SETTINGS } from '../../src/daemon/settings.ts'
import { temporaryFolder } from '../support/daemon-process.ts'
import { needs } from '../support/requirements.ts'
import { readRecipe } from './support/recipes.ts'

const SYSTEM = 'systemd/system/clipgate.service'
const USER = 'systemd/user/clipgate.service'

/** What systemd has to say about a unit; nothing, if it is well. */
async function verify(t: TestContext, mode: '--user' | '--system', unit: string): Promise<string> {
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

/** The value of a directive; all of them joined, where there are several. */
function directive(unit: string, name: string): string | undefined {
  const values = [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value)
  return values.length === 0 ? undefined : values.join(' ')
}

describe('the systemd units', needs('systemd-analyze'), () => {
  it('are understood in every line', async (t) => {
    assert.equal(await verify(t, '--user', readRecipe(USER)), '')
    assert.equal(await verify(t, '--system', readRecipe(SYSTEM)), '')
  })

  it('would be complained of otherwise', async (t) => {
    const wrong = `${readRecipe(USER)}\n[Service]\nRestartSecond=5\n`
    assert.match(await verify(t, '--user', wrong), /Unknown key.*RestartSecond/)
    const missing = readRecipe(SYSTEM).replace('ExecStart=/usr/local', 'ExecStart=/nowhere')
    assert.match(await verify(t, '--system', missing), /not executable/)
  })
})

describe('both systemd units', () => {
  for (const path of [SYSTEM, USER]) {
    const unit = readRecipe(path)
    it(`let Node compile, which it does while it runs: ${path}`, () => {
      assert.equal(directive(unit, 'MemoryDenyWriteExecute'), undefined)
      assert.match(directive(unit, 'SystemCallFilter') ?? '', /@system-service/)
    })

    it(`let it ask for the addresses of the machine: ${path}`, () => {
      assert.match(directive(unit, 'RestrictAddressFamilies') ?? '', /\bAF_NETLINK\b/)
    })

    it(`give uploads the time that they are promised: ${path}`, () => {
      const stop = Number(/^(\d+)s$/.exec(directive(unit, 'TimeoutStopSec') ?? '')?.[1])
      const where = { platform: 'linux', environment: {}, home: '/' } as const
      const listeners = ['gateway', 'control'].length
      assert.ok(stop * 1000 > listeners * SETTINGS.grace.fallback(where), `${stop} s are enough`)
    })
  }

  it('tell a desktop session from a server', () => {
    assert.equal(directive(readRecipe(USER), 'WantedBy'), 'graphical-session.target')
    assert.equal(directive(readRecipe(SYSTEM), 'User'), 'clipgate')
    assert.equal(directive(readRecipe(SYSTEM), 'StateDirectoryMode'), '0700')
    assert.deepEqual(defaultListen('headless').map(({ host }) => host), ['127.0.0.1'])
  })

  it('leave /proc as it is, which the lock of the data directory is compared with', () => {
    const remounting = /^(?:ProtectKernelTunables|ProtectControlGroups|ProtectProc|ProcSubset)=/m
    assert.doesNotMatch(readRecipe(SYSTEM), remounting)
  })
})
