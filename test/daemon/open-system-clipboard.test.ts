import assert from 'node:assert/strict'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { findClipboards, openSystemClipboard } from '../../src/daemon/open-system-clipboard.ts'
import { COPY_LIMITS } from '../../src/desktop/read-copy.ts'
import type { ClipboardKind } from '../../src/ports/system-clipboard.ts'
import { FakeWayland } from '../desktop/wayland/support/fake-wayland.ts'
import { SILENT } from '../desktop/support/open-reconciler.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { needs } from '../support/requirements.ts'
import { Xvfb } from '../support/xvfb.ts'

const { PATH } = process.env

function open(t: TestContext, env: NodeJS.ProcessEnv, choice?: ClipboardKind) {
  const logger = new CaptureLogger()
  const events = SILENT
  const deps = { events, clock: new FakeClock(), logger, limits: COPY_LIMITS, readAtStart: true }
  const opening = openSystemClipboard(choice, deps, { platform: 'linux', env: { PATH, ...env } })
  t.after(() =>
    opening.then(
      (clipboard) => clipboard.close(),
      () => undefined,
    ),
  )
  return { logger, opening }
}

describe('the choice of the system clipboard', () => {
  const cases: readonly [NodeJS.Platform, NodeJS.ProcessEnv, readonly ClipboardKind[]][] = [
    ['darwin', { DISPLAY: ':0' }, ['macos']],
    ['win32', {}, ['windows']],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0', DISPLAY: ':0' }, ['wayland', 'x11']],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, ['wayland']],
    ['linux', { WAYLAND_DISPLAY: '', DISPLAY: ':0' }, ['x11']],
    ['freebsd', { DISPLAY: ':0' }, ['x11']],
    ['linux', {}, []],
  ]
  for (const [platform, env, kinds] of cases) {
    const set = Object.keys(env).filter((name) => env[name] !== '')
    const shown = set.join(' and ') || 'nothing'
    it(`is ${kinds.join(', then ') || 'none'} on ${platform} with ${shown} set`, () => {
      assert.deepEqual(findClipboards({ platform, env }), kinds)
    })
  }
})

describe('openSystemClipboard', { timeout: 60_000 }, () => {
  it('says that there is no desktop', async (t) => {
    await assert.rejects(open(t, {}).opening, /neither WAYLAND_DISPLAY nor DISPLAY is set/)
  })

  it('says what a Wayland desktop lacks, and that there is no way round it', async (t) => {
    const { env } = await FakeWayland.start(t, ['wl_seat'])
    await assert.rejects(open(t, env).opening, /data-control/)
  })

  it('names the package to install', async (t) => {
    const { env } = await FakeWayland.start(t, ['wl_seat', 'zwlr_data_control_manager_v1'])
    await assert.rejects(open(t, { ...env, PATH: '/nonexistent' }).opening, /package wl-clipboard/)
  })

  it('names what the clipboards of other systems need', async (t) => {
    const windows = open(t, { SystemRoot: '/nonexistent' }, 'windows')
    await assert.rejects(windows.opening, /"powershell" is not installed/)
    if (process.platform === 'darwin') return
    await assert.rejects(open(t, {}, 'macos').opening, /"osascript" is not installed/)
  })

  it('reads nothing at the start that may have been copied in a pause, on Windows', async (t) => {
    for (const readAtStart of [false, true]) {
      const owners: string[] = []
      const events = { ...SILENT, onChange: (owner: string) => void owners.push(owner) }
      const env = { ...process.env, SystemRoot: await windowsRoot(t) }
      const logger = new CaptureLogger()
      const deps = { events, clock: systemClock, logger, limits: COPY_LIMITS, readAtStart }
      const clipboard = await openSystemClipboard('windows', deps, { platform: 'win32', env })
      assert.deepEqual(owners, readAtStart ? ['another'] : [])
      await clipboard.close()
    }
  })

  it('goes through XWayland where Wayland gives no access', needs('Xvfb'), async (t) => {
    const { display } = await Xvfb.start(t)
    const { env } = await FakeWayland.start(t, ['wl_seat'])
    const { opening, logger } = open(t, { ...env, DISPLAY: display })
    assert.equal((await opening).kind, 'x11')
    assert.match(logger.text, /data-control/)
  })

  it('names both reasons when neither works', async (t) => {
    const { env } = await FakeWayland.start(t, ['wl_seat'])
    const { opening } = open(t, { ...env, DISPLAY: 'nonsense' })
    await assert.rejects(opening, /data-control.*; .*X display/)
  })

  it('tries nothing else when one was chosen', needs('Xvfb'), async (t) => {
    const { display } = await Xvfb.start(t)
    const { env } = await FakeWayland.start(t, ['wl_seat'])
    await assert.rejects(open(t, { ...env, DISPLAY: display }, 'wayland').opening, /data-control/)
    assert.equal((await open(t, { ...env, DISPLAY: display }, 'x11').opening).kind, 'x11')
  })
})

/** A folder in which Windows has its PowerShell: a program that finds a text on the clipboard. */
async function windowsRoot(t: TestContext): Promise<string> {
  const root = await temporaryFolder(t)
  const path = join(root, 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe')
  await mkdir(dirname(path), { recursive: true })
  const script = `#!${process.execPath}
    console.log('{"event":"ready"}')
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id } = JSON.parse(line)
      console.log(JSON.stringify({ reply: id, change: 1, types: ['CF_UNICODETEXT'], denied: [] }))
    })`
  await writeFile(path, script)
  await chmod(path, 0o700)
  return root
}
