import assert from 'node:assert/strict'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { chmod, lstat, mkdir, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { TO_START } from '../../src/cli/panel.ts'
import { hasDesktop } from '../../src/cli/shell.ts'
import { DomainError } from '../../src/core/domain-error.ts'
import { MAX_PAUSE_MS } from '../../src/core/limits.ts'
import { createFakeAdmin, STATUS } from '../support/fake-admin.ts'
import { FakePanel } from '../support/fake-panel.ts'
import { holdDataDirectory, serveControl } from '../support/held-data-directory.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runCommand, type TestShellOptions } from '../support/test-shell.ts'

const URL_LINE = /^http:\/\/127\.0\.0\.1:\d+\/\?[\w-]{12}#[\w-]{43}\n$/

/** Whether what stands behind the `#` of an address opens the panel. */
async function opens(address: string): Promise<boolean> {
  const { origin, hash } = new URL(address)
  const headers = { Authorization: `Bearer ${hash.slice(1)}` }
  return (await fetch(`${origin}/state`, { headers })).status === 200
}

/** Commands beside a daemon that is this fake. */
async function beside(t: TestContext) {
  const held = await holdDataDirectory(t)
  const panel = new FakePanel()
  const status = async () => ({ ...STATUS, paused: panel.paused })
  await serveControl(t, held, { ...(await createFakeAdmin()), status }, panel)
  const run = (args: readonly string[], options: TestShellOptions = {}) =>
    runCommand([...args, '--data-dir', held.dataDir], options)
  return { run, panel, dataDir: held.dataDir }
}

/** A program `xdg-open` that writes down its arguments, and nothing else on the path. */
async function fakeOpener(t: TestContext) {
  const folder = await temporaryFolder(t)
  const bin = join(folder, 'bin')
  await mkdir(bin)
  const script = `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > '${folder}/part' && /bin/mv '${folder}/part' '${folder}/opened'\n`
  await writeFile(join(bin, 'xdg-open'), script)
  await chmod(join(bin, 'xdg-open'), 0o755)
  const watcher = watch(folder)
  t.after(() => watcher.close())
  const opened = async (): Promise<readonly string[]> => {
    for (;;) {
      // Listens before it looks: the file may come in between.
      const changed = once(watcher, 'change')
      const text = await readFile(join(folder, 'opened'), 'utf8').catch(() => undefined)
      if (text !== undefined) return text.trimEnd().split('\n')
      await changed
    }
  }
  return { PATH: bin, opened }
}

describe('clipgate panel', () => {
  it('opens a private file that leads to the panel: no token is an argument', async (t) => {
    const { run, dataDir } = await beside(t)
    const { PATH, opened } = await fakeOpener(t)
    const { code, stdout, stderr } = await run(['panel'], { environment: { PATH, DISPLAY: ':1' } })
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, /^The panel opens in your browser\. .*clipgate panel --print\n$/)
    const path = join(dataDir, 'open-panel.html')
    assert.deepEqual(await opened(), ['1', path])
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    const html = await readFile(path, 'utf8')
    const [, address = ''] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(html) ?? []
    assert.match(`${address}\n`, URL_LINE)
    assert.match(html, /name="referrer" content="no-referrer"/)
    assert.doesNotMatch(html, /<script/)
    assert.ok(!stdout.includes('#'), 'not printed')
    assert.ok(await opens(address), address)
  })

  it('replaces the file of the last time', async (t) => {
    const { run, dataDir } = await beside(t)
    const { PATH } = await fakeOpener(t)
    const environment = { PATH, WAYLAND_DISPLAY: 'wayland-0' }
    const path = join(dataDir, 'open-panel.html')
    await writeFile(path, 'of the last time', { mode: 0o644 })
    await run(['panel'], { environment })
    assert.match(await readFile(path, 'utf8'), /^<!doctype html>/)
    assert.equal((await stat(path)).mode & 0o777, 0o600)
  })

  it('gives a browser in a sandbox the file where that one reads', async (t) => {
    const { run, dataDir } = await beside(t)
    const link = join(dataDir, 'open-panel.html')
    const home = await temporaryFolder(t)
    const [snap, flatpak] = [join(home, 'snap/firefox/common'), join(home, '.var/app/org.x.Web')]
    for (const path of [snap, flatpak]) await mkdir(path, { recursive: true })
    const name = 'clipgate-open-panel.html'
    for (const [entry, path] of [
      ['firefox_firefox.desktop', join(snap, name)],
      ['org.x.Web.desktop', join(flatpak, name)],
      // Not from a snap, never started, not known, and nothing that a menu has.
      ['firefox.desktop', link],
      ['chromium_chromium.desktop', link],
      ['', link],
      ['../../../x.desktop', link],
    ] as const) {
      const { PATH, opened } = await fakeOpener(t)
      const script = `#!/bin/sh\ntest "$*" = 'query default text/html' && echo '${entry}'\n`
      await writeFile(join(PATH, 'xdg-mime'), script, { mode: 0o755 })
      await run(['panel'], { environment: { PATH, DISPLAY: ':1' }, home })
      assert.deepEqual(await opened(), ['1', path])
      assert.equal((await stat(path)).mode & 0o777, 0o600)
      // Such a browser is in no other folder, nor does a link lead it there.
      assert.ok((await lstat(path)).isFile())
      assert.match(await readFile(path, 'utf8'), /^<!doctype html>/)
      assert.equal(await realpath(link), await realpath(path), 'the daemon finds it')
      const left = await Promise.all([snap, flatpak].map((folder) => readdir(folder)))
      assert.deepEqual(left.flat(), path === link ? [] : [name])
    }
  })

  it('prints the URL where there is no desktop, no opener, or when it is told to', async (t) => {
    const { run, dataDir } = await beside(t)
    const { PATH } = await fakeOpener(t)
    for (const [args, environment] of [
      [['panel'], { PATH }],
      [['panel'], { PATH, DISPLAY: '' }],
      [['panel'], { PATH: dataDir, DISPLAY: ':1' }],
      [['panel', '--print'], { PATH, DISPLAY: ':1' }],
    ] as const) {
      const { code, stdout, errors } = await run(args, { environment })
      assert.equal(code, 0)
      assert.match(stdout, URL_LINE)
      assert.equal(errors.length, 1)
      assert.match(errors[0] ?? '', /until the daemon stops/)
      assert.ok(await opens(stdout), stdout)
    }
  })

  it('says over SSH how to get there', async (t) => {
    const { run } = await beside(t)
    const environment = { DISPLAY: 'localhost:10.0', SSH_CONNECTION: '10.0.0.2 5 10.0.0.1 22' }
    const { stdout, errors } = await run(['panel'], { environment })
    assert.match(stdout, URL_LINE)
    const { host } = new URL(stdout)
    assert.ok(errors[1]?.endsWith(`ssh -L ${host}:${host} USER@THIS-MACHINE`), errors[1])
  })

  it('prints the URL alone for scripts, and opens nothing', async (t) => {
    const { run, dataDir } = await beside(t)
    const { PATH } = await fakeOpener(t)
    const environment = { PATH, DISPLAY: ':1' }
    const { code, stdout, stderr } = await run(['panel', '--json'], { environment })
    assert.deepEqual([code, stderr], [0, ''])
    const { url, ...rest } = JSON.parse(stdout)
    assert.match(`${url}\n`, URL_LINE)
    assert.deepEqual(rest, {})
    await assert.rejects(stat(join(dataDir, 'open-panel.html')), { code: 'ENOENT' })
  })

  it('knows a desktop when there is one', () => {
    const home = '/'
    for (const [platform, environment, expected] of [
      ['linux', {}, false],
      ['linux', { DISPLAY: ':0' }, true],
      ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, true],
      ['linux', { DISPLAY: ':0', SSH_CONNECTION: 'x' }, false],
      ['darwin', {}, true],
      ['darwin', { SSH_CONNECTION: 'x' }, false],
      ['win32', {}, true],
    ] as const) {
      assert.equal(hasDesktop({ platform, environment, home }), expected, platform)
    }
  })
})

describe('clipgate pause and resume', () => {
  it('pause for a time, or without an end, and go on', async (t) => {
    const { run, panel } = await beside(t)
    const timed = await run(['pause', '10m'])
    assert.match(
      timed.stdout,
      /^Paused until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d; to end it: clipgate resume\n$/,
    )
    const { untilMs = 0 } = panel.paused ?? {}
    assert.ok(Math.abs(untilMs - Date.now() - 600_000) < 300_000, String(untilMs))
    for (const tooMuch of ['400d', '0.1s']) {
      const { code, errors } = await run(['pause', tooMuch])
      assert.deepEqual([code, errors.length], [2, 1])
      assert.match(errors.join(), /the duration must be from 1s to 365d, not/)
    }
    const endless = await run(['pause'])
    assert.equal(endless.stdout, 'Paused until it is ended; to end it: clipgate resume\n')
    assert.deepEqual(panel.paused, { untilMs: undefined })
    assert.equal((await run(['resume'])).stdout, 'The clipboard is shared again.\n')
    assert.equal(panel.paused, undefined)
    const { stdout } = await run(['resume'])
    assert.equal(stdout, 'It was not paused: the clipboard is shared.\n')
  })

  it('print JSON for scripts', async (t) => {
    const { run, panel } = await beside(t)
    const { untilMs } = JSON.parse((await run(['pause', '--json', '1h'])).stdout)
    assert.equal(untilMs, panel.paused?.untilMs)
    assert.equal((await run(['pause', '--json'])).stdout, '{"untilMs":null}\n')
    assert.equal((await run(['resume', '--json'])).stdout, '{}\n')
  })

  it('are called wrongly with what is no duration', async (t) => {
    const { run, panel } = await beside(t)
    const tooLong = String(MAX_PAUSE_MS / 1000 + 1)
    for (const text of ['soon', '', '0', '500ms', '10 m', '1w', tooLong, '1e3']) {
      const { code, stdout, errors } = await run(['pause', text])
      assert.deepEqual([code, stdout, errors.length], [2, '', 1], text)
      assert.match(errors[0] ?? '', /^Cannot pause for that long: the duration must be /)
    }
    assert.equal((await run(['pause', '1m', '2m'])).code, 2)
    assert.equal((await run(['resume', '1m'])).code, 2)
    assert.equal(panel.paused, undefined)
  })

  it('tell what the daemon says', async (t) => {
    const { run, panel } = await beside(t)
    panel.failure = new DomainError('NO_CLIPBOARD', 'Cannot pause: there is no clipboard')
    const { code, errors } = await run(['pause'])
    assert.deepEqual([code, errors], [1, ['Cannot pause: there is no clipboard']])
  })
})

describe('commands that need a daemon', () => {
  it('say so in one line, and how to start one', async (t) => {
    const dataDir = join(await temporaryFolder(t), 'data')
    for (const [command, action] of [
      ['panel', 'open the panel'],
      ['log', 'tell what happened'],
      ['pause', 'pause'],
      ['resume', 'resume'],
    ] as const) {
      const { code, stdout, errors } = await runCommand([command, '--data-dir', dataDir])
      const line = `Cannot ${action}: no daemon runs; ${TO_START}`
      assert.deepEqual([code, stdout, errors], [1, '', [line]])
    }
    // And leave nothing behind.
    await assert.rejects(stat(dataDir), { code: 'ENOENT' })
  })

  it('say so when the daemon does not answer', async (t) => {
    const { dataDir, directory } = await holdDataDirectory(t)
    await writeFile(join(dataDir, 'control.token'), 'token\n')
    await directory.announce({ control: 'http://127.0.0.1:1' })
    const { code, errors } = await runCommand(['panel', '--data-dir', dataDir])
    assert.equal(code, 1)
    assert.match(errors[0] ?? '', /^Cannot reach the daemon \(process \d+\): http:.*ECONNREFUSED/)
  })
})
