import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { XClient } from '../desktop/x11/support/x-client.ts'
import { pasteUntil, xclipCopy, xclipPaste } from '../desktop/x11/support/xclip.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Xvfb } from '../support/xvfb.ts'

/** As *Copy link* of the panel puts it on the clipboard. */
const SECRET = 'clip://connect?url=http%3A%2F%2F10.0.0.1%3A42720&password=private'

/** A desktop, and daemons on it with one data directory, one after the other. */
async function setUp(t: TestContext) {
  const xvfb = await Xvfb.start(t)
  const { display } = xvfb
  const folder = await temporaryFolder(t)
  const start = async (where = display, devices: readonly string[] = []) => {
    const options = { folder, devices, env: { DISPLAY: where } }
    const daemon = await startDaemonProcess(t, options)
    assert.equal(daemon.ready.clipboard, 'x11', daemon.stderr())
    return daemon
  }
  const daemon = await start(display, ['Phone'])
  const device = await daemon.pair('Phone')
  return {
    display,
    folder,
    daemon,
    start,
    device,
    phone: createPhone(device, daemon.ready.gateway),
  }
}

describe('a paused desktop', needs('Xvfb', 'xclip'), () => {
  it('keeps what is copied from the phone, and from itself', async (t) => {
    const { display, daemon, phone } = await setUp(t)
    await xclipCopy(t, display, 'before', 'UTF8_STRING')
    await phone.reads({ text: 'before' })

    const { stdout } = await daemon.run('pause', '--json')
    assert.deepEqual(JSON.parse(stdout), { untilMs: null })
    const other = await XClient.open(t, display)
    await other.own()
    await xclipCopy(t, display, 'private', 'UTF8_STRING')
    await daemon.run('resume')
    await xclipCopy(t, display, 'after', 'UTF8_STRING')
    await phone.reads({ text: 'after' })
    // Nobody asked for what was copied meanwhile, not even for its formats.
    await other.settle()
    assert.equal(other.waiting('requested'), 0)
  })

  it('takes what the phone pushes, and puts it on the clipboard when it goes on', async (t) => {
    const { display, daemon, phone, folder } = await setUp(t)
    await phone.pushText('before')
    await pasteUntil(display, 'UTF8_STRING', 'before')
    await daemon.run('pause', '1h')
    await phone.pushText('meanwhile')
    await phone.pushFile('File', 'a.bin', Buffer.from('bytes'))
    const received = join(folder, 'received', 'a.bin')
    for (;;) if ((await stat(received).catch(() => undefined)) !== undefined) break
    assert.equal(String(await xclipPaste(display, 'UTF8_STRING')), 'before')
    assert.equal((await phone.document())['dataName'], 'a.bin')

    const status = JSON.parse((await daemon.run('status', '--json')).stdout)
    assert.equal(Math.abs(status.paused.untilMs - Date.now() - 3_600_000) < 600_000, true)
    assert.match((await daemon.run('status')).stdout, /^Paused +until 20\d\d-/m)
    await daemon.run('resume')
    await pasteUntil(display, 'text/uri-list', `${pathToFileURL(received)}\r\n`)
  })

  for (const end of ['was stopped', 'was killed']) {
    it(`puts on the clipboard what the phone pushed before the daemon ${end}, twice`, async (t) => {
      const { display, daemon, start, phone } = await setUp(t)
      await phone.pushText('before')
      await pasteUntil(display, 'UTF8_STRING', 'before')
      await daemon.run('pause')
      await phone.pushText('meanwhile')
      let last = daemon
      for (let restarts = 0; restarts < 2; restarts += 1) {
        if (end === 'was stopped') await last.stop()
        else await last.kill()
        last = await start()
      }
      assert.equal(await xclipPaste(display, 'UTF8_STRING'), undefined)
      await last.run('resume')
      await pasteUntil(display, 'UTF8_STRING', 'meanwhile')
    })
  }

  it('puts nothing over what was copied while no daemon ran, also not when it goes on', async (t) => {
    const { display, daemon, start, phone } = await setUp(t)
    await daemon.run('pause')
    await phone.pushText('meanwhile')
    await daemon.stop()
    await xclipCopy(t, display, SECRET, 'UTF8_STRING')
    const again = await start()
    await again.run('resume')
    await again.run('pause')
    assert.equal(String(await xclipPaste(display, 'UTF8_STRING')), SECRET)
  })

  it('stays paused when the daemon starts again', async (t) => {
    const { display, folder, daemon, start, device } = await setUp(t)
    await daemon.run('pause')
    const path = join(folder, 'data', 'paused.json')
    assert.deepEqual(JSON.parse(await readFile(path, 'utf8')), { untilMs: null, changedOn: [] })
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.equal(await daemon.stop(), 0)

    const other = await XClient.open(t, display)
    await other.own()
    const again = await start()
    const phone = createPhone(device, again.ready.gateway)
    assert.deepEqual(JSON.parse((await again.run('status', '--json')).stdout).paused, {
      untilMs: null,
    })
    await again.run('resume')
    await xclipCopy(t, display, 'after', 'UTF8_STRING')
    await phone.reads({ text: 'after' })
    await other.settle()
    assert.equal(other.waiting('requested'), 0)
  })

  it('was paused when it was stopped: what is there at the next start is not read', async (t) => {
    const { display, folder, daemon, start, device } = await setUp(t)
    await daemon.stop()
    await writeFile(join(folder, 'data', 'paused.json'), '{"untilMs":1}')
    const other = await XClient.open(t, display)
    await other.own()
    const again = await start()
    assert.equal(JSON.parse((await again.run('status', '--json')).stdout).paused, null)
    await xclipCopy(t, display, 'after', 'UTF8_STRING')
    await createPhone(device, again.ready.gateway).reads({ text: 'after' })
    await other.settle()
    assert.equal(other.waiting('requested'), 0)
  })

  for (const end of ['that was resumed', 'that ended while no daemon ran']) {
    it(`keeps what was copied over later starts, and on other displays: a pause ${end}`, async (t) => {
      const { display, folder, daemon, start, device, phone } = await setUp(t)
      await xclipCopy(t, display, 'ok', 'UTF8_STRING')
      await phone.reads({ text: 'ok' })
      await daemon.run('pause', '1h')
      await xclipCopy(t, display, SECRET, 'UTF8_STRING')
      if (end === 'that was resumed') await daemon.run('resume')
      await daemon.stop()
      const path = join(folder, 'data', 'paused.json')
      if (end !== 'that was resumed') await writeFile(path, '{"untilMs":1}')

      // A desktop of the same user, on which it was copied too.
      const second = await Xvfb.start(t)
      await xclipCopy(t, second.display, SECRET, 'UTF8_STRING')
      for (const where of [display, second.display, display]) {
        const again = await start(where)
        const { document } = createPhone(device, again.ready.gateway)
        while (!again.stderr().includes('may have been copied during a pause')) {
          assert.equal((await document())['text'], 'ok')
        }
        assert.equal((await document())['text'], 'ok')
        await again.stop()
      }
      const last = await start()
      await xclipCopy(t, display, SECRET, 'UTF8_STRING')
      await createPhone(device, last.ready.gateway).reads({ text: SECRET })
    })
  }

  it('shares what was copied while no daemon ran once something newer was copied', async (t) => {
    const { display, daemon, start, device } = await setUp(t)
    await daemon.run('pause')
    await daemon.run('resume')
    await xclipCopy(t, display, 'after', 'UTF8_STRING')
    await createPhone(device, daemon.ready.gateway).reads({ text: 'after' })
    await daemon.stop()
    await xclipCopy(t, display, 'meanwhile', 'UTF8_STRING')
    const again = await start()
    await createPhone(device, again.ready.gateway).reads({ text: 'meanwhile' })
  })
})

it('a daemon without a clipboard says that there is nothing to pause', async (t) => {
  const daemon = await startDaemonProcess(t, { args: ['--headless'] })
  for (const command of ['pause', 'resume']) {
    await assert.rejects(daemon.run(command), (error: { code?: number; stderr?: string }) => {
      assert.equal(error.code, 1)
      assert.match(
        error.stderr ?? '',
        /^Cannot pause or resume: this daemon has no system clipboard\n$/,
      )
      return true
    })
  }
})
