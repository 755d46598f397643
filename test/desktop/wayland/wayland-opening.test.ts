import assert from 'node:assert/strict'
import { access, chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { WaylandClipboard } from '../../../src/desktop/wayland/wayland-clipboard.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { ClipboardOwner } from '../../../src/ports/system-clipboard.ts'
import { CaptureLogger } from '../../support/capture-logger.ts'
import { KWIN_TOOLS, startKwin } from '../../support/compositors.ts'
import { Mailbox } from '../../support/mailbox.ts'
import { needs } from '../../support/requirements.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { WatchedClock } from '../x11/support/watched-clock.ts'
import { SILENT } from '../support/open-reconciler.ts'
import { FakeWayland } from './support/fake-wayland.ts'
import { wlCopy } from './support/wl-clipboard.ts'

/** Opens one with stand-ins for the tools. */
async function open(t: TestContext, env: NodeJS.ProcessEnv, wlPaste = 'exit 1') {
  const folder = await temporaryFolder(t)
  for (const tool of ['wl-paste', 'wl-copy']) {
    await writeFile(join(folder, tool), `#!/bin/sh\n${wlPaste}\n`)
    await chmod(join(folder, tool), 0o755)
  }
  const clock = new WatchedClock()
  const opening = WaylandClipboard.open({
    env: { PATH: `${folder}:${process.env['PATH']}`, ...env },
    events: {
      onChange: () => assert.fail('told'),
      onLost: () => assert.fail('told'),
      onBack: () => assert.fail('told'),
      onTrouble: () => assert.fail('told'),
    },
    clock,
    logger: new CaptureLogger(),
    readAtStart: true,
  })
  return { clock, opening }
}

describe('WaylandClipboard, when it cannot be opened', { timeout: 60_000 }, () => {
  it('says that there is no compositor', async (t) => {
    const { opening } = await open(t, {})
    await assert.rejects(opening, /WAYLAND_DISPLAY is not set/)
    const env = { XDG_RUNTIME_DIR: await temporaryFolder(t), WAYLAND_DISPLAY: 'wayland-0' }
    await assert.rejects((await open(t, env)).opening, /is away/)
  })

  it('says that background programs may not watch, and starts no tool to see', async (t) => {
    const { env } = await FakeWayland.start(t, ['wl_seat', 'gtk_shell1'])
    const script = `touch '${env.XDG_RUNTIME_DIR}/started'`
    await assert.rejects((await open(t, env, script)).opening, /data-control/)
    await assert.rejects(access(join(env.XDG_RUNTIME_DIR, 'started')))
  })

  it('says so also when wl-paste is older than the protocol of the compositor', async (t) => {
    const { env } = await FakeWayland.start(t, ['wl_seat', 'ext_data_control_manager_v1'])
    const complaint =
      'Watch mode requires a compositor that supports the wlroots data-control protocol'
    const { opening, clock } = await open(t, env, `echo '${complaint}' >&2; exit 1`)
    await assert.rejects(opening, /data-control/)
    // What waited for it to say so is of no use any more.
    clock.advance(1000)
    assert.equal(clock.pending, 0)
  })

  it('says that wl-paste ended', async (t) => {
    const { env } = await FakeWayland.start(t, ['wl_seat', 'ext_data_control_manager_v1'])
    const { opening } = await open(t, env, 'exit 7')
    await assert.rejects(opening, /"wl-paste" ended with exit code 7/)
  })
})

it(
  'takes the first copy on an empty clipboard of KWin for one',
  needs(...KWIN_TOOLS),
  async (t) => {
    const env = await startKwin(t)
    const changes = new Mailbox<ClipboardOwner>()
    const clipboard = await WaylandClipboard.open({
      env: { ...process.env, ...env },
      clock: systemClock,
      logger: new CaptureLogger(),
      readAtStart: true,
      events: { ...SILENT, onChange: (owner) => changes.put(owner) },
    })
    assert.equal(await changes.next(), 'nobody')
    await wlCopy(t, env, 'copied')
    assert.equal(await changes.next(), 'another')
    await clipboard.close()
  },
)
