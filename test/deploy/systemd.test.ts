import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { defaultListen, SETTINGS } from '../../src/daemon/settings.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { PROGRAM } from '../support/program.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { needsUserSession, startUserSession } from '../support/user-session.ts'
import { readRecipe, ROOT } from './support/recipes.ts'
import { verifyUnit } from './support/verify-unit.ts'
import { execute } from '../support/execute.ts'

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

/** Prints each message that comes to a socket as systemd has it. It discards the file of a barrier. */
const LISTENER = `
import socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
print('listens', flush=True)
while True: print(listener.recv(4096).decode(), flush=True)
`

// Each on a machine of its own, most of the time waiting for systemd.
describe('a daemon that systemd started', { concurrency: true }, () => {
  const tools = needs('systemd-notify', 'python3')

  it('tells when it is ready, that it lives, and when it stops', tools, async (t) => {
    const folder = await temporaryFolder(t)
    const socket = join(folder, 'notify')
    const listener = spawn('python3', ['-c', LISTENER, socket], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => listener.kill())
    const lines = createInterface({ input: listener.stdout })[Symbol.asyncIterator]()
    const next = async (): Promise<unknown> => {
      for (;;) {
        const { value } = await lines.next()
        if (value !== 'BARRIER=1') return value
      }
    }
    assert.equal(await next(), 'listens')
    const env = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '300000' }
    const daemon = await startDaemonProcess(t, { args: ['--headless'], env })
    assert.equal(await next(), 'READY=1')
    for (let count = 0; count < 3; count++) assert.equal(await next(), 'WATCHDOG=1')
    const stopped = daemon.stop()
    let last = await next()
    while (last === 'WATCHDOG=1') last = await next()
    assert.equal(last, 'STOPPING=1')
    assert.equal(await stopped, 0)
    assert.equal(daemon.stderr(), '')
  })

  it('lives where it cannot tell, and says so once', async (t) => {
    const env = { NOTIFY_SOCKET: '/nowhere', WATCHDOG_USEC: '30000', PATH: '/nowhere' }
    const daemon = await startDaemonProcess(t, { args: ['--headless'], env })
    while (!daemon.stderr().includes('systemd'))
      await once(daemon.child.stderr ?? daemon.child, 'data')
    assert.equal((await fetch(`${daemon.ready.gateway}/healthz`)).status, 204)
    assert.equal(await daemon.stop(), 0)
    assert.match(daemon.stderr(), /^\S+ error Cannot tell systemd state="READY=1" reason=.*\n$/)
  })

  for (const path of [SYSTEM, USER]) {
    it(
      `is started when it is ready, and again when it hangs: ${path}`,
      needsUserSession(),
      async (t) => {
        const home = await temporaryFolder(t)
        const session = await startUserSession(t, home)
        const program = `"${process.execPath}" "${PROGRAM.join('" "')}"`
        // The manager of a user here: it has no display, and cannot make mounts of its own.
        const unit = readRecipe(path)
          .replace(
            /^(?:PartOf|After|ConditionEnvironment|User|DevicePolicy|Private\w+|Protect\w+)=.*\n/gm,
            '',
          )
          .replace(/^ExecStart=.*$/m, `ExecStart=${program} serve --headless`)
          .replace('WatchdogSec=3min', `WatchdogSec=2s\nWorkingDirectory=${ROOT}`)
        const units = join(home, '.config/systemd/user')
        await mkdir(units, { recursive: true })
        await writeFile(join(units, 'clipgate.service'), unit)
        const systemctl = (...args: readonly string[]) =>
          session.run('systemctl', '--user', ...args)
        const show = async (name: string): Promise<string> =>
          (await systemctl('show', `--property=${name}`, '--value', 'clipgate')).trim()
        await systemctl('daemon-reload')
        await systemctl('start', 'clipgate')
        await session.run('curl', '-sSf', 'http://127.0.0.1:42720/healthz')

        const first = await show('MainPID')
        await session.run('kill', '-STOP', first)
        // Waits for its end, without asking systemd all the time.
        await session.run('tail', `--pid=${first}`, '--follow', '/dev/null')
        while ((await show('NRestarts')) !== '1' || (await show('ActiveState')) !== 'active');
        assert.notEqual(await show('MainPID'), first)
        await session.run('curl', '-sSf', 'http://127.0.0.1:42720/healthz')
        await systemctl('stop', 'clipgate')
        assert.equal(await show('Result'), 'success')
        await session.end()
      },
    )
  }
})

it('the user of the system unit is made', needs('systemd-sysusers'), async (t) => {
  const root = await temporaryFolder(t)
  await mkdir(join(root, 'etc'))
  const file = join(ROOT, 'deploy/systemd/sysusers.d/clipgate.conf')
  await execute('systemd-sysusers', [`--root=${root}`, file])
  const passwd = await readFile(join(root, 'etc/passwd'), 'utf8')
  assert.match(passwd, /^clipgate:x:\d{1,3}:\d{1,3}:clipgate:\/var\/lib\/clipgate:.*nologin$/m)
})
