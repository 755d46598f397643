import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { defaultListen, SETTINGS } from '../../src/daemon/settings.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { readRecipe, ROOT } from './support/recipes.ts'
import { verifyUnit } from './support/verify-unit.ts'

const SYSTEM = 'systemd/system/clipgate.service'
const USER = 'systemd/user/clipgate.service'

/** The value of a directive; all of them joined, where there are several. */
function directive(unit: string, name: string): string | undefined {
  const values = [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value)
  return values.length === 0 ? undefined : values.join(' ')
}

describe('the systemd units', needs('systemd-analyze'), () => {
  it('are understood in every line', async (t) => {
    assert.equal(await verifyUnit(t, '--user', readRecipe(USER)), '')
    assert.equal(await verifyUnit(t, '--system', readRecipe(SYSTEM)), '')
  })

  it('would be complained of otherwise', async (t) => {
    const wrong = `${readRecipe(USER)}\n[Service]\nRestartSecond=5\n`
    assert.match(await verifyUnit(t, '--user', wrong), /Unknown key.*RestartSecond/)
    const missing = readRecipe(SYSTEM).replace('ExecStart=/usr/local', 'ExecStart=/nowhere')
    assert.match(await verifyUnit(t, '--system', missing), /not executable/)
  })
})

for (const path of [SYSTEM, USER]) {
  it(`both systemd units let Node compile and see addresses, and give uploads their time: ${path}`, () => {
    const unit = readRecipe(path)
    assert.equal(directive(unit, 'MemoryDenyWriteExecute'), undefined)
    assert.match(directive(unit, 'SystemCallFilter') ?? '', /@system-service/)
    assert.match(directive(unit, 'RestrictAddressFamilies') ?? '', /\bAF_NETLINK\b/)
    const stop = Number(/^(\d+)s$/.exec(directive(unit, 'TimeoutStopSec') ?? '')?.[1])
    const where = { platform: 'linux', environment: {}, home: '/' } as const
    const listeners = ['gateway', 'control'].length
    assert.ok(stop * 1000 > listeners * SETTINGS.grace.fallback(where), `${stop} s are enough`)
  })
}

it('both systemd units tell a desktop session from a server', () => {
  assert.equal(directive(readRecipe(USER), 'WantedBy'), 'graphical-session.target')
  assert.equal(directive(readRecipe(SYSTEM), 'User'), 'clipgate')
  assert.equal(directive(readRecipe(SYSTEM), 'StateDirectoryMode'), '0700')
  assert.deepEqual(
    defaultListen('headless').map(({ host }) => host),
    ['127.0.0.1'],
  )
})

it('both systemd units leave /proc as it is, which the lock of the data directory is compared with', () => {
  const remounting = /^(?:ProtectKernelTunables|ProtectControlGroups|ProtectProc|ProcSubset)=/m
  assert.doesNotMatch(readRecipe(SYSTEM), remounting)
})

it('the user of the system unit is made', needs('systemd-sysusers'), async (t) => {
  const root = await temporaryFolder(t)
  await mkdir(join(root, 'etc'))
  const file = join(ROOT, 'deploy/systemd/sysusers.d/clipgate.conf')
  await promisify(execFile)('systemd-sysusers', [`--root=${root}`, file])
  const passwd = await readFile(join(root, 'etc/passwd'), 'utf8')
  assert.match(passwd, /^clipgate:x:\d{1,3}:\d{1,3}:clipgate:\/var\/lib\/clipgate:.*nologin$/m)
})
