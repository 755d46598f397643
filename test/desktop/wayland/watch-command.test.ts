import assert from 'node:assert/strict'
import { chmod, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { prepareWatch, toolEnvironment } from '../../../src/desktop/wayland/watch-command.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { WatchedClock } from '../x11/support/watched-clock.ts'
import { FakeWayland } from './support/fake-wayland.ts'

async function toolsIn(t: TestContext, ...names: readonly string[]): Promise<string> {
  const folder = await temporaryFolder(t)
  for (const name of names) {
    await writeFile(join(folder, name), '#!/bin/sh\n')
    await chmod(join(folder, name), 0o755)
  }
  return folder
}

async function prepare(t: TestContext, PATH: string, protocol = 'zwlr_data_control_manager_v1') {
  const { env } = await FakeWayland.start(t, ['wl_seat', protocol])
  const clock = new WatchedClock()
  return { clock, watch: await prepareWatch(toolEnvironment({ ...env, PATH }), clock) }
}

describe('the watch of the Wayland clipboard', { timeout: 60_000 }, () => {
  it('ends with the daemon where the system can do that', async (t) => {
    const tools = await toolsIn(t, 'wl-paste', 'wl-copy', 'setpriv')
    const { watch } = await prepare(t, tools)
    assert.equal(watch.command, join(tools, 'setpriv'))
    const watching = ['--pdeathsig', 'TERM', '--', 'wl-paste', '--watch']
    assert.deepEqual(watch.args.slice(0, 5), watching)
  })

  it('does without where it cannot', async (t) => {
    const tools = await toolsIn(t, 'wl-paste', 'wl-copy', 'busybox')
    await symlink('busybox', join(tools, 'setpriv'))
    for (const path of [tools, await toolsIn(t, 'wl-paste', 'wl-copy')]) {
      assert.equal((await prepare(t, path)).watch.command, 'wl-paste')
    }
  })

  it('needs both tools', async (t) => {
    for (const tools of [await toolsIn(t, 'wl-paste'), await toolsIn(t, 'wl-copy')]) {
      await assert.rejects(prepare(t, tools), /install the package wl-clipboard/)
    }
  })

  it('leaves a wl-paste that may not know the newer protocol the time to say so', async (t) => {
    const tools = await toolsIn(t, 'wl-paste', 'wl-copy')
    const { watch, clock } = await prepare(t, tools, 'ext_data_control_manager_v1')
    const ready = watch.untilReady?.(new AbortController().signal)
    await clock.pass(1000)
    await ready
  })

  it('takes a wl-clipboard that says it is new enough, and none that is too old', async (t) => {
    for (const [version, isNew] of [
      ['2.3.0', true],
      ['2.10', true],
      ['3.0.1', true],
      ['2.2.1', false],
      ['1.9', false],
      ['unknown', true],
    ] as const) {
      const tools = await toolsIn(t, 'wl-paste', 'wl-copy')
      await writeFile(join(tools, 'wl-paste'), `#!/bin/sh\necho "wl-clipboard ${version}"\n`)
      const preparing = prepare(t, tools, 'ext_data_control_manager_v1')
      if (isNew) assert.equal((await preparing).watch.name, 'wl-paste')
      else await assert.rejects(preparing, /^UnusableYet: .*install wl-clipboard 2\.3 or newer$/)
      // Every wl-clipboard knows the older protocol.
      assert.equal((await prepare(t, tools)).watch.name, 'wl-paste')
    }
  })

  it('knows what wl-paste complains about', async (t) => {
    const { watch } = await prepare(t, await toolsIn(t, 'wl-paste', 'wl-copy'))
    const explain = (line: string): string => watch.explain?.(line) ?? ''
    const lacks = 'Watch mode requires a compositor that supports the wlroots data-control protocol'
    assert.match(explain(lacks), /data-control/)
    assert.match(explain('Failed to connect to a Wayland server'), /is away/)
    assert.match(explain('wl_display_dispatch: Broken pipe'), /is away/)
    assert.equal(explain('anything else: hunter2'), '')
  })

  it('shows the tools nothing of our surroundings that they do not need', () => {
    const env = { PATH: '/bin', WAYLAND_DISPLAY: 'w', CLIPGATE_TOKEN: 'hunter2' }
    assert.doesNotMatch(JSON.stringify(toolEnvironment(env)), /hunter2/)
  })
})
