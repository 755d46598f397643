import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Finding } from '../../src/doctor/finding.ts'
import { KWIN_TOOLS, MUTTER_TOOLS, startKwin, startMutter } from '../support/compositors.ts'
import { daemonCommand, startDaemonProcess } from '../support/daemon-process.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Xvfb } from '../support/xvfb.ts'

describe('clipgate doctor --try-clipboard', needs('Xvfb'), () => {
  it('says what came back to another program, and where', async (t) => {
    const env = { DISPLAY: (await Xvfb.start(t)).display }
    const { run } = daemonCommand(await temporaryFolder(t), { env })
    const found = await tryClipboard(run)
    assert.deepEqual(
      found.map(({ check, ok }) => [check, ok]),
      ['system', 'text', 'image', 'files'].map((name) => [`clipboard-${name}`, true]),
    )
    assert.match(found[0]?.detail ?? '', /^x11, Linux .*, Node \d+\..*, clipgate \d/)
    assert.match(found[1]?.detail ?? '', /^came back after \d+ ms$/)
  })

  it(
    'reads as a program of Wayland, too, where X11 is the way to that',
    needs(...MUTTER_TOOLS),
    async (t) => {
      const { run } = daemonCommand(await temporaryFolder(t), { env: await startMutter(t) })
      const [system, ...kinds] = await tryClipboard(run)
      assert.match(system?.detail ?? '', /^x11, /)
      for (const { ok, detail } of kinds) {
        assert.ok(ok, detail)
        assert.match(detail, /, to programs of Wayland as well$/)
      }
    },
  )

  it('finds out that X11 is no way to the clipboard of KWin', needs(...KWIN_TOOLS), async (t) => {
    const env = { ...(await startKwin(t)), CLIPGATE_CLIPBOARD: 'x11' }
    const { run } = daemonCommand(await temporaryFolder(t), { env })
    const [system, text, ...others] = await tryClipboard(run)
    assert.match(system?.detail ?? '', /^x11, /)
    assert.match(text?.detail ?? '', /^came back after .* programs? of Wayland/)
    assert.deepEqual([text?.ok, others], [false, []])
  })

  it('tries nothing that a daemon would share, and is not shared in a pause', async (t) => {
    const env = { DISPLAY: (await Xvfb.start(t)).display }
    const daemon = await startDaemonProcess(t, { env, devices: ['Phone'] })
    const phone = await daemon.phone()
    const [refused] = await tryClipboard(daemon.run)
    assert.deepEqual([refused?.ok, refused?.fix], [false, 'first: clipgate pause 1m'])
    await daemon.run('pause')
    assert.equal((await tryClipboard(daemon.run)).length, 4)
    assert.equal((await phone.document())['hash'], '')
  })
})

type Run = (...args: readonly string[]) => Promise<{ readonly stdout: string }>

async function tryClipboard(run: Run): Promise<readonly Finding[]> {
  // It exits with 1 for what is wrong with this machine, too.
  const { stdout } = await run('doctor', '--try-clipboard', '--json').catch((error) => error)
  const findings: readonly Finding[] = JSON.parse(stdout)
  return findings.filter(({ check }) => check.startsWith('clipboard-'))
}
