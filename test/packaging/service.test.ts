import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { readManifest } from '../../build/parts.ts'
import { needs } from '../support/requirements.ts'
import { folderForAll, temporaryFolder } from '../support/temporary-folder.ts'
import { needsUserSession, startDesktop, startUserSession } from '../support/user-session.ts'
import { Xvfb } from '../support/xvfb.ts'
import { makeRelease, PROJECT } from './support/make-release.ts'
import { execute } from '../support/execute.ts'

// Each on a machine of its own, most of the time waiting for systemd.
const options = { ...needsUserSession(), concurrency: true } as const

describe('clipgate service, with a real systemd,', options, () => {
  let [folder, archive] = ['', '']
  before(async () => {
    folder = await folderForAll()
    const release = await makeRelease(folder)
    archive = join(release, `clipgate-${readManifest(PROJECT).version}-linux.tar.gz`)
  })

  /** Unpacks the release into the home of a user, as docs/guides/install.md says. */
  const unpack = async (home: string): Promise<string> => {
    const prefix = join(home, '.local')
    await mkdir(prefix, { recursive: true })
    await execute('tar', ['-xzf', archive, '--strip-components=1', '-C', prefix])
    return join(prefix, 'bin/clipgate')
  }

  it('starts at each login, is killed and comes back, and is removed without a trace', async (t) => {
    const home = join(await temporaryFolder(t), 'a %h $HOME & home')
    const clipgate = await unpack(home)
    const file = join(home, '.config/systemd/user/clipgate.service')
    const first = await startUserSession(t, home)
    const service = async (action: string, session = first): Promise<unknown> =>
      JSON.parse(await session.run(clipgate, 'service', action, '--json'))
    const advice = [
      'It ends when you log out for the last time; to keep it: loginctl enable-linger',
    ]
    const nothing = { installed: false, running: false, file: null, advice: [] }
    const running = { installed: true, running: true, file, advice }

    assert.deepEqual(await service('status'), nothing)
    assert.deepEqual(await service('remove'), nothing)
    assert.deepEqual(await service('install'), running)
    assert.deepEqual(await service('install'), running)
    const status = JSON.parse(await first.run(clipgate, 'status', '--json'))
    assert.equal(status.running, true)
    await first.run(
      'systemctl',
      '--user',
      'kill',
      '--signal=SIGKILL',
      '--kill-whom=main',
      'clipgate',
    )
    const restarts = ['show', '--user', '--property=NRestarts', '--value', 'clipgate']
    while ((await first.run('systemctl', ...restarts)).trim() === '0');
    // Returns once it has told systemd that it is ready.
    await first.run('systemctl', '--user', 'start', 'clipgate')
    assert.deepEqual(await service('status'), running)
    await first.end()

    const second = await startUserSession(t, home)
    assert.deepEqual(await service('status', second), running)
    assert.deepEqual(await service('remove', second), nothing)
    assert.equal(existsSync(file), false)
    const listed = ['list-unit-files', '--user', '--all', '--legend=no', 'clipgate*']
    assert.equal(await second.run('systemctl', ...listed).catch(() => ''), '')
    await assert.rejects(second.run('systemctl', '--user', 'is-active', 'clipgate'))
    await second.end()
  })

  it('is not installed for what npx keeps only for a while', async (t) => {
    const home = await temporaryFolder(t)
    const clipgate = await unpack(join(home, '.npm/_npx/1a2b3c'))
    const session = await startUserSession(t, home)
    await assert.rejects(
      session.run(clipgate, 'service', 'install'),
      /what npx keeps only for a while; install clipgate first: npm install --global/,
    )
    assert.equal(existsSync(join(home, '.config/systemd')), false)
    await session.end()
  })

  it('says truly that it does not run, and runs once that is mended', async (t) => {
    const home = await temporaryFolder(t)
    const clipgate = await unpack(home)
    const session = await startUserSession(t, home)
    const elsewhere = { listen: ['192.0.2.1:42720'] }
    await mkdir(join(home, '.config/clipgate'), { recursive: true })
    await writeFile(join(home, '.config/clipgate/config.json'), JSON.stringify(elsewhere))
    const install = () => session.run(clipgate, 'service', 'install')
    // More often than systemd starts by itself what fails.
    for (let times = 0; times < 7; times++) {
      assert.match(await install(), /^It does not run now; to see why: journalctl --user -u/m)
    }
    await session.run(clipgate, 'service', 'remove')
    assert.equal(await session.run('systemctl', '--user', 'list-units', '--failed', '-q'), '')

    await install()
    await rm(join(home, '.config/clipgate/config.json'))
    assert.match(await install(), /^It runs\.$/m)
    await session.end()
  })

  it('starts with the desktop and ends with it', needs('Xvfb'), async (t) => {
    const home = await temporaryFolder(t)
    const clipgate = await unpack(home)
    const { display } = await Xvfb.start(t)
    const session = await startUserSession(t, home, { DISPLAY: display })
    const status = async () =>
      JSON.parse(await session.run(clipgate, 'service', 'status', '--json'))

    // In a terminal of a window manager that tells systemd nothing.
    const printed = await session.run(clipgate, 'service', 'install')
    assert.match(printed, /^It does not run now/m)
    assert.match(printed, /^No graphical session is known to systemd/m)

    await startDesktop(session, home)
    assert.deepEqual((await status()).advice, [])
    assert.equal((await status()).running, true)
    await session.run(clipgate, 'service', 'install')
    const daemon = JSON.parse(await session.run(clipgate, 'status', '--json'))
    assert.deepEqual([daemon.mode, daemon.clipboard], ['desktop', 'x11'])
    await session.run('systemctl', '--user', 'stop', 'desktop')
    await session.run('systemctl', '--user', 'stop', 'graphical-session.target')
    assert.equal((await status()).running, false)
    await session.end()
  })
})
