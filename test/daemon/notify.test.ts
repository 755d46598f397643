import assert from 'node:assert/strict'
import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { loadSettings } from '../../src/daemon/load-settings.ts'
import { startDaemon } from '../../src/daemon/start-daemon.ts'
import { WatchedClock } from '../desktop/x11/support/watched-clock.ts'
import { mountSmallDisk, needsMount } from '../storage/support/small-disk.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { fakeNotifySend, usePath } from '../support/fake-notify-send.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Xvfb } from '../support/xvfb.ts'
import { MIB } from '../../src/core/limits.ts'

/** For so long a trouble, or its end, must hold. */
const LASTING_MS = 10_000

/** A daemon in this process, so that its time is ours. */
async function startNotifying(t: TestContext, options: Readonly<Record<string, unknown>>) {
  const { path, calls } = await fakeNotifySend(t)
  usePath(t, path)
  const folder = await temporaryFolder(t)
  const settings = loadSettings({
    options: {
      dataDir: join(folder, 'data'),
      receivedDir: join(folder, 'received'),
      listen: ['127.0.0.1:0'],
      control: '127.0.0.1:0',
      notify: true,
      ...options,
    },
    where: { platform: 'linux', environment: {}, home: folder },
    cwd: folder,
  })
  const clock = new WatchedClock()
  const logger = new CaptureLogger()
  const daemon = await startDaemon(settings, { clock, logger })
  t.after(() => daemon.stop())
  const nextTitle = async (): Promise<string | undefined> => (await calls.next()).at(2)
  return { daemon, clock, calls, nextTitle, logger }
}

/** One with a disk of 16 MiB, and a device that has been greeted. */
async function startOnSmallDisk(t: TestContext, minFreeBytes: string) {
  const disk = mountSmallDisk(t, 16)
  const options = { dataDir: join(disk, 'data'), headless: true, minFreeBytes }
  const running = await startNotifying(t, options)
  const nothing = { label: 'Phone', username: undefined, password: undefined, url: undefined }
  const device = await running.daemon.admin.pair({ kind: 'phone', ...nothing })
  const phone = createPhone(device, running.daemon.ready.gateway)
  const push = async (bytes: number): Promise<number> => {
    const body = Buffer.alloc(bytes)
    return (await phone.fetch('/file/secret.bin', { method: 'PUT', body })).status
  }
  assert.equal(await push(100), 200)
  assert.equal(await running.nextTitle(), 'A new device')
  return { ...running, disk, push }
}

describe('notifications', () => {
  it('greet a device when it logs in for the first time, and not again', async (t) => {
    const { path, calls } = await fakeNotifySend(t)
    const env = { PATH: path }
    const args = ['--headless', '--notify']
    const daemon = await startDaemonProcess(t, { env, args })
    const one = await daemon.phone('<b>One</b> & \\074')
    await one.document()
    assert.deepEqual(await calls.next(), [
      '--app-name=clipgate',
      '--',
      'A new device',
      '“&lt;b&gt;One&lt;/b&gt; &amp; \\\\074” has logged in for the first time.',
    ])
    await one.pushText('something secret')
    const two = await daemon.phone('Two')
    await two.document()
    assert.match((await calls.next()).join(), /“Two”/)
    await daemon.stop()

    const again = await startDaemonProcess(t, { env, args, folder: daemon.folder })
    await createPhone({ ...(await again.pair('Three')) }, again.ready.gateway).document()
    await fetch(`${again.ready.gateway}/Sync.json`, {
      headers: { authorization: one.authorization },
    })
    assert.match((await calls.next()).join(), /“Three”/)
    assert.equal(await again.stop(), 0)
    assert.equal(calls.size, 0)
  })

  it('are off unless somebody wants them', async (t) => {
    const { path, calls } = await fakeNotifySend(t)
    const env = { PATH: path }
    const quiet = await startDaemonProcess(t, { env, args: ['--headless'], devices: ['Quiet'] })
    await (await quiet.phone('Quiet')).pushText('x')
    assert.equal(await quiet.stop(), 0)
    const args = ['--headless', '--notify']
    const loud = await startDaemonProcess(t, { env, args, devices: ['Loud'] })
    await (await loud.phone('Loud')).pushText('x')
    assert.match((await calls.next()).join(), /“Loud”/)
  })

  it('tell of files that arrive, and of nothing else, unless they are off', {
    skip:
      process.platform === 'linux' ? needs('Xvfb').skip : 'elsewhere they are for those who ask',
  }, async (t) => {
    const { path, calls } = await fakeNotifySend(t)
    const { display } = await Xvfb.start(t)
    const start = async (bus: string, ...args: readonly string[]) => {
      const env = { PATH: path, DISPLAY: display, DBUS_SESSION_BUS_ADDRESS: bus }
      const daemon = await startDaemonProcess(t, { env, args, devices: ['Pixel'] })
      return await daemon.phone('Pixel')
    }
    for (const quiet of [
      await start('unix:path=/nonexistent', '--notify-arrivals', 'off'),
      await start(''),
    ]) {
      await quiet.pushFile('File', 'quiet.pdf', Buffer.alloc(2048))
    }
    const phone = await start('unix:path=/nonexistent')
    const next = async (): Promise<readonly string[]> => {
      const [button, ...shown] = await calls.next()
      assert.equal(button, '--action=folder=Open folder')
      return shown.slice(2)
    }
    await phone.pushText('a secret')
    await phone.pushFile('File', 'report.pdf', Buffer.alloc(2048))
    assert.deepEqual(await next(), ['From “Pixel”', 'report.pdf, 2.0 KiB'])
    const jpeg = Buffer.from('\xff\xd8\xff\xe0 a photo', 'latin1')
    const batch = '0'.repeat(32)
    await phone.uploadBatch(batch, [['IMG_1.jpg', jpeg]])
    await phone.pushBatch(batch, [1], { type: 'File', dataName: 'IMG_1.jpg' })
    assert.deepEqual(await next(), ['From “Pixel”', 'A picture is on the clipboard, 12 bytes.'])
    assert.equal(calls.size, 0)
  })

  it('tell that the clipboard is away, and that it is back', needs('Xvfb'), async (t) => {
    const xvfb = await Xvfb.start(t)
    const before = process.env['DISPLAY']
    process.env['DISPLAY'] = xvfb.display
    t.after(() => {
      if (before === undefined) delete process.env['DISPLAY']
      else process.env['DISPLAY'] = before
    })
    const { clock, nextTitle, calls } = await startNotifying(t, {})
    // Comes back within a moment: nobody hears of it.
    await xvfb.crash()
    await clock.pass(300)
    await clock.hasOnly(LASTING_MS, 600)
    await xvfb.restart()
    await clock.pass(600)
    await clock.hasOnly()

    await xvfb.crash()
    await clock.pass(LASTING_MS)
    assert.equal(await nextTitle(), 'clipgate cannot share what you copy')
    await clock.hasOnly(600)
    await xvfb.restart()
    await clock.pass(600)
    await clock.pass(LASTING_MS)
    assert.equal(await nextTitle(), 'clipgate shares the clipboard again')
    await clock.hasOnly()
    assert.equal(calls.size, 0)
  })

  it('tell that there is no clipboard at the start', async (t) => {
    const { clock, nextTitle, logger } = await startNotifying(t, { clipboard: 'windows' })
    await clock.pass(LASTING_MS)
    assert.equal(await nextTitle(), 'clipgate cannot share what you copy')
    assert.doesNotMatch(logger.text, /notification/)
  })

  it('tell that the disk is full, and that there is room again', needsMount, async (t) => {
    const { disk, push, clock, nextTitle, calls } = await startOnSmallDisk(t, '4MiB')
    await writeFile(join(disk, 'filler'), Buffer.alloc(11 * MIB))
    assert.equal(await push(2 * MIB), 507)
    await clock.pass(LASTING_MS)
    const told = await calls.next()
    assert.equal(told.at(2), 'No room for a file from a device')
    assert.doesNotMatch(told.join(), /secret/)

    // What is small still fits, which is no room for what did not.
    assert.equal(await push(100), 200)
    assert.equal((await stat(join(disk, 'filler'))).size, 11 * MIB)
    await rm(join(disk, 'filler'))
    assert.equal(await push(2 * MIB), 200)
    await clock.pass(LASTING_MS)
    assert.equal(await nextTitle(), 'Room for files again')
    assert.equal(calls.size, 0)
  })

  it('tell so also where only the disk itself sets the limit', needsMount, async (t) => {
    const { push, clock, nextTitle, calls } = await startOnSmallDisk(t, '0')
    assert.equal(await push(20 * MIB), 507)
    await clock.pass(LASTING_MS)
    assert.equal(await nextTitle(), 'No room for a file from a device')
    assert.equal(await push(100), 200)
    await clock.pass(LASTING_MS)
    assert.equal(await nextTitle(), 'Room for files again')
    assert.equal(calls.size, 0)
  })

  it('never keep a daemon from working when they cannot be shown', async (t) => {
    const folder = await temporaryFolder(t)
    const args = ['--headless', '--notify']
    const options = { args, env: { PATH: folder }, devices: ['Phone'] }
    const daemon = await startDaemonProcess(t, options)
    const phone = await daemon.phone()
    await phone.pushText('hello')
    assert.equal((await phone.document())['text'], 'hello')
    assert.equal(await daemon.stop(), 0)
    assert.equal(daemon.stderr().match(/the program for it is missing/g)?.length, 1)
  })
})
