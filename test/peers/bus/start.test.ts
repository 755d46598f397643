import assert from 'node:assert/strict'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { loadSettings } from '../../../src/daemon/load-settings.ts'
import { startDaemon } from '../../../src/daemon/start-daemon.ts'
import { deriveSecrets, mintCircleKey, parseCircleKey } from '../../../src/peers/bus/circle-key.ts'
import { loadNats } from '../../../src/peers/bus/nats-bus.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { daemonCommand, startDaemonProcess } from '../../support/daemon-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Nobody listens there. */
const NOWHERE = 'nats://127.0.0.1:1'

/** Runs a command that fails. */
async function fails(folder: string, ...args: readonly string[]) {
  const failed: unknown = await daemonCommand(folder)
    .run(...args)
    .then(
      () => assert.fail(`It did not fail: ${args.join(' ')}`),
      (error: unknown) => error,
    )
  return failed as { readonly code: number; readonly stderr: string }
}

describe('clipgate group', () => {
  it('makes a key that only its owner can read, and never shows it', async (t) => {
    const folder = await temporaryFolder(t)
    const { run } = daemonCommand(folder)
    const { stdout } = await run('group', 'new')
    const path = join(folder, 'data', 'group.key')
    const text = await readFile(path, 'utf8')
    const { id } = deriveSecrets(parseCircleKey(text))
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.ok(stdout.includes(path) && stdout.includes(id), stdout)
    assert.ok(!stdout.includes(text.trim().slice(-43)), 'the key is shown')

    const refused = await fails(folder, 'group', 'new')
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /--force/)
    assert.equal(await readFile(path, 'utf8'), text)
    const { group, running } = JSON.parse((await run('group', 'new', '--force', '--json')).stdout)
    assert.notEqual(group, id)
    assert.equal(running, false)
  })

  it('takes the key of another member from stdin, and nothing else', async (t) => {
    const folder = await temporaryFolder(t)
    const key = mintCircleKey()
    const { run } = daemonCommand(folder)
    const give = (text: string) => {
      const running = run('group', 'import', '--json')
      // What `promisify(execFile)` gives has the child as well.
      const { child } = running as unknown as { child: { stdin: NodeJS.WritableStream } }
      child.stdin.end(text)
      return running
    }
    await assert.rejects(give('no key at all\n'), /group key/)
    await assert.rejects(stat(join(folder, 'data', 'group.key')), /ENOENT/)
    const { group } = JSON.parse((await give(key)).stdout)
    assert.equal(group, deriveSecrets(parseCircleKey(key)).id)
    assert.equal(await readFile(join(folder, 'data', 'group.key'), 'utf8'), key)
  })

  it('leaves: the key is gone, and nobody of the group can read any more', async (t) => {
    const folder = await temporaryFolder(t)
    await mkdir(join(folder, 'data'), { mode: 0o700 })
    const key = mintCircleKey()
    await writeFile(join(folder, 'data', 'group.key'), key, { mode: 0o600 })
    const daemon = await startDaemonProcess(t, { folder, args: ['--headless', '--bus', NOWHERE] })
    const { username, password } = deriveSecrets(parseCircleKey(key))
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    const read = () => fetch(`${daemon.ready.gateway}/Sync.json`, { headers: { authorization } })
    assert.equal((await read()).status, 200)
    assert.match((await daemon.run('group', 'leave')).stdout, /until it is stopped/)
    assert.equal((await read()).status, 401)
    await assert.rejects(stat(join(folder, 'data', 'group.key')), /ENOENT/)
    assert.match((await fails(folder, 'group', 'leave')).stderr, /there is no group\.key/)
  })

  it('that is called wrongly says how', async (t) => {
    const folder = await temporaryFolder(t)
    for (const args of [['group'], ['group', 'old'], ['group', 'new', 'x']]) {
      const { code, stderr } = await fails(folder, ...args)
      assert.equal(code, 2, args.join(' '))
      assert.match(stderr, /usage: clipgate group new\|import\|leave/)
    }
  })
})

describe('a start with a bus', () => {
  it('without a key, with a damaged one, or without a file that was named says what to do', async (t) => {
    const folder = await temporaryFolder(t)
    const anywhere = '--listen 127.0.0.1:0 --control 127.0.0.1:0'
    const serve = `serve --headless ${anywhere} --bus ${NOWHERE}`.split(' ')
    const missing = await fails(folder, ...serve)
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /clipgate group new/)
    const path = join(folder, 'data', 'group.key')
    await writeFile(path, 'clipgate-group-key-1:AAAA\n', { mode: 0o600 })
    const damaged = await fails(folder, ...serve)
    assert.match(damaged.stderr, /group\.key: it is damaged; copy it again/)
    await writeFile(path, mintCircleKey(), { mode: 0o600 })
    for (const option of ['--bus-credentials', '--bus-ca']) {
      const { code, stderr } = await fails(folder, ...serve, option, join(folder, 'nothing'))
      assert.equal(code, 1)
      assert.match(stderr, /Cannot read bus(?:Credentials|Ca) file .*ENOENT/)
    }
  })

  it('lets the members of its group in, and those of an earlier key no more', async (t) => {
    const folder = await temporaryFolder(t)
    const { run } = daemonCommand(folder)
    const ids: string[] = []
    for (const _ of [1, 2]) {
      const { group } = JSON.parse((await run('group', 'new', '--force', '--json')).stdout)
      ids.push(group)
      const daemon = await startDaemonProcess(t, { folder, args: ['--headless', '--bus', NOWHERE] })
      const devices = JSON.parse((await daemon.run('devices', '--json')).stdout)
      assert.deepEqual(
        devices.map(({ username, kind }: Record<string, unknown>) => [username, kind]),
        [[`group_${group}`, 'peer']],
      )
      assert.equal(await daemon.stop(), 0)
    }
    assert.notEqual(ids[0], ids[1])
  })

  it('warns of nothing secret, also at the most talkative level', async (t) => {
    const folder = await temporaryFolder(t)
    await daemonCommand(folder).run('group', 'new')
    const key = parseCircleKey(await readFile(join(folder, 'data', 'group.key'), 'utf8'))
    const args = ['--headless', '--bus', NOWHERE, '--log-level', 'debug']
    const daemon = await startDaemonProcess(t, { folder, args })
    const { stdout } = await daemon.run('status', '--json')
    await daemon.stop()
    const { password, signalKey } = deriveSecrets(key)
    const encoded = [signalKey, key].map((bytes) => Buffer.from(bytes).toString('base64url'))
    for (const secret of [password, ...encoded])
      assert.ok(!(daemon.stderr() + stdout).includes(secret), 'a secret')
  })
})

describe('a start without a bus', () => {
  it('loads nothing of the client', async (t) => {
    const folder = await temporaryFolder(t)
    const settings = loadSettings({
      options: { dataDir: folder, headless: true, listen: ['127.0.0.1:0'], control: '127.0.0.1:0' },
      where: { platform: 'linux', home: folder, environment: {} },
      cwd: folder,
    })
    const daemon = await startDaemon(settings, { logger: new CaptureLogger() })
    t.after(() => daemon.stop())
    const { cache } = createRequire(import.meta.url)
    const loaded = () => Object.keys(cache).filter((path) => path.includes('@nats-io')).length
    assert.equal(loaded(), 0)
    loadNats()
    assert.ok(loaded() > 0, 'it could not be seen')
  })
})
