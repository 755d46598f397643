import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findClipboards, openSystemClipboard } from '../../src/daemon/open-system-clipboard.ts'
import { COPY_LIMITS } from '../../src/desktop/read-copy.ts'
import { waylandSocket } from '../../src/desktop/wayland/data-control.ts'
import type { ClipboardKind } from '../../src/ports/system-clipboard.ts'
import { FakeWayland } from '../desktop/wayland/support/fake-wayland.ts'
import { SILENT } from '../desktop/support/open-reconciler.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { execute } from '../support/execute.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { needs } from '../support/requirements.ts'
import { startProgram } from '../support/start-program.ts'
import { Sway, SWAY_TOOLS } from '../support/sway.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Xvfb } from '../support/xvfb.ts'

const { PATH } = process.env

const RELAY = fileURLToPath(new URL('../desktop/wayland/support/relay.py', import.meta.url))

const EXT = 'ext_data_control_manager_v1'

/** Its clipboard is X11's at any time. */
const MUTTER = ['wl_seat', 'gtk_shell1']

/** The tools of Debian 12 and 13, as far as they say which they are. */
async function addOldTools(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t)
  for (const tool of ['wl-paste', 'wl-copy']) {
    const script = '#!/bin/sh\n[ "$1" = --version ] && echo "wl-clipboard 2.1.0"\n'
    await writeFile(join(folder, tool), script, { mode: 0o755 })
  }
  return folder
}

/** Sway, as if it spoke the newer protocol alone. @returns What its programs have in their environment. */
async function startExtOnly(t: TestContext) {
  const sway = await Sway.start(t)
  const WAYLAND_DISPLAY = join(await temporaryFolder(t), 'wayland-ext')
  const relay = ['python3', RELAY, waylandSocket(sway.env), WAYLAND_DISPLAY]
  const { kill } = await startProgram(relay, { ready: /ready/ })
  t.after(() => kill())
  return { ...sway.env, WAYLAND_DISPLAY }
}

/** A Node that reads no TypeScript does not come as far as the package. */
const NO_HELPER = /The package koffi is missing|"windows-helper" ended/

function open(t: TestContext, env: NodeJS.ProcessEnv, choice?: ClipboardKind) {
  const logger = new CaptureLogger()
  const events = SILENT
  const deps = { events, clock: new FakeClock(), logger, limits: COPY_LIMITS, readAtStart: true }
  const opening = openSystemClipboard(choice, deps, {
    platform: 'linux',
    environment: { PATH, ...env },
  })
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
      assert.deepEqual(findClipboards({ platform, environment: env }), kinds)
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
    await assert.rejects(open(t, {}, 'windows').opening, NO_HELPER)
    if (process.platform === 'darwin') return
    await assert.rejects(open(t, {}, 'macos').opening, /"osascript" is not installed/)
  })

  it('goes through XWayland where Wayland gives no access', needs('Xvfb'), async (t) => {
    const { display } = await Xvfb.start(t)
    const { env } = await FakeWayland.start(t, MUTTER)
    const { opening, logger } = open(t, { ...env, DISPLAY: display })
    assert.equal((await opening).kind, 'x11')
    assert.match(logger.text, /data-control/)
  })

  it('stays with a Wayland that gives access, whatever is missing', needs('Xvfb'), async (t) => {
    const { display } = await Xvfb.start(t)
    const old = await addOldTools(t)
    for (const [interfaces, path, expected] of [
      [[EXT], old, /^Error: wl-clipboard 2\.1\.0 .*: install wl-clipboard 2\.3 or newer$/],
      [['zwlr_data_control_manager_v1'], '/nonexistent', /install the package wl-clipboard$/],
      [['org_kde_plasma_shell'], old, /lacks the data-control protocol; update Plasma/],
      [
        [],
        old,
        /lacks the data-control protocol; update it, as it may hide its clipboard from X11/,
      ],
    ] as const) {
      const { env } = await FakeWayland.start(t, ['wl_seat', ...interfaces])
      const { opening } = open(t, { ...env, DISPLAY: display, PATH: path })
      await assert.rejects(opening, expected)
    }
  })

  it(
    'is said by log, status and doctor where it needs newer tools',
    needs(...SWAY_TOOLS, 'Xvfb', 'python3'),
    async (t) => {
      const { display } = await Xvfb.start(t)
      const env = { ...(await startExtOnly(t)), DISPLAY: display }
      const daemon = await startDaemonProcess(t, { env })
      const { stdout: version } = await execute('wl-paste', ['--version'])
      // What Debian 12 and 13 have.
      if (!/^wl-clipboard 2\.[0-2]\./.test(version)) {
        return assert.equal(daemon.ready.clipboard, 'wayland')
      }
      assert.equal(daemon.ready.clipboard, 'none')
      const trouble = /wl-clipboard 2\.\d\.\d .*: install wl-clipboard 2\.3 or newer/
      assert.match(daemon.stderr(), trouble)
      assert.match((await daemon.run('status')).stdout, trouble)
      const { stdout } = await daemon.run('doctor').catch((error) => error)
      assert.match(stdout, /PROBLEM +clipboard .*install wl-clipboard 2\.3 or newer\n.*tries again/)
    },
  )

  it('names both reasons when neither works', async (t) => {
    const { env } = await FakeWayland.start(t, MUTTER)
    const { opening } = open(t, { ...env, DISPLAY: 'nonsense' })
    await assert.rejects(opening, /data-control.*; .*X display/)
  })

  it('tries nothing else when one was chosen', needs('Xvfb'), async (t) => {
    const { display } = await Xvfb.start(t)
    const { env } = await FakeWayland.start(t, ['wl_seat'])
    await assert.rejects(open(t, { ...env, DISPLAY: display }, 'wayland').opening, /data-control/)
    const { opening, logger } = open(t, { ...env, DISPLAY: display }, 'x11')
    assert.equal((await opening).kind, 'x11')
    assert.match(logger.text, /may hide its clipboard from X11 programs/)
  })
})
