import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { readLockHolder } from '../../src/storage/home/lock.ts'
import { mountSmallDisk, needsMount } from '../storage/support/small-disk.ts'
import { daemonCommand, type DaemonProcess, type PairedDevice } from '../support/daemon-process.ts'
import { openEvents } from '../support/event-reader.ts'
import { createPhone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { assertFit, examine } from './support/fitness.ts'
import { announce, askOnce, connectTo, formatHead } from './support/raw-device.ts'
import { headless, main, startHeadless, startPaired, take } from './support/subject.ts'
import { inject, needsTracing } from './support/trace.ts'

const UPLOADS = 8

const ITEM = Buffer.alloc(8_000_000, 'the item')

/**
 * A daemon with everything under way at once: uploads of which half has been sent, downloads that
 * nobody reads, streams, and logins that nobody has verified yet.
 */
async function startLoaded(t: TestContext, folder: string) {
  // Whoever waits for its end here is not to be hurried.
  const { daemon, device, phone } = await startPaired(t, { args: ['--grace', '5m'], folder })
  const { gateway } = daemon.ready
  await phone.pushFile('File', 'item', ITEM)
  const uploads = await Promise.all(
    Array.from({ length: UPLOADS }, async (_, index) => {
      const client = await announce(daemon, device, `PUT /file/${index}`, 400_000)
      return client.send(String(index).repeat(200_000))
    }),
  )
  const downloads = await Promise.all(
    [1, 2, 3].map(async () => {
      const client = await connectTo(daemon)
      client.send(formatHead('GET /file/item', device))
      await client.readUntil('\r\n\r\n')
      client.socket.pause()
      return client
    }),
  )
  const streams = await Promise.all([1, 2].map(() => openEvents(t, gateway, phone.authorization)))
  for (const stream of streams) await stream.next()
  const logins = Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      const { username } = device
      const stranger = createPhone({ username, password: `wrong ${index}` }, gateway)
      // Closed unanswered is an answer when it stops.
      return stranger.fetch('/').then(
        ({ status }) => status,
        () => undefined,
      )
    }),
  )
  return { daemon, device, uploads, downloads, streams, logins }
}

/** Waits until it refuses what is new. */
async function untilDraining(daemon: DaemonProcess, device: PairedDevice): Promise<void> {
  // A connection that was used before may be closed with a request on its way.
  while ((await askOnce(daemon, 'GET /healthz', device)).status !== 503) continue
}

for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
  it(`a daemon under load drains at ${signal}, keeps what it was sent, and exits with 0`, async (t) => {
    const folder = await temporaryFolder(t)
    const { daemon, device, uploads, downloads, streams, logins } = await startLoaded(t, folder)
    const exit = once(daemon.child, 'close')
    daemon.child.kill(signal)
    await untilDraining(daemon, device)
    for (const stream of streams) assert.deepEqual(await stream.rest(), [])
    for (const status of await logins) assert.ok(status !== 200, `${status}`)
    for (const [index, upload] of uploads.entries()) {
      upload.send(String(index).repeat(200_000))
      assert.equal((await upload.read()).status, 200)
    }
    for (const download of downloads) {
      download.socket.resume()
      assert.equal((await download.readToEnd()).length, ITEM.length)
    }
    assert.deepEqual(await exit, [0, null])
    assert.equal(daemon.stderr(), '')
    assert.ok(!(await readdir(join(folder, 'data'))).includes('lock'), 'the folder is free')

    const next = await startHeadless(t, { folder })
    const phone = createPhone(device, next.ready.gateway)
    assert.ok(ITEM.equals(await phone.download()), 'the item')
    for (let index = 0; index < UPLOADS; index++) {
      assert.equal(await take(phone, String(index)), String(index).repeat(400_000))
    }
    const patient = { daemon: next, device }
    await assertFit(patient, await examine(patient))
  })
}

it('a daemon under load ends at the second signal at once, and leaves nothing half', async (t) => {
  const folder = await temporaryFolder(t)
  const { daemon, device } = await startLoaded(t, folder)
  const exit = once(daemon.child, 'close')
  daemon.child.kill('SIGTERM')
  await untilDraining(daemon, device)
  daemon.child.kill('SIGHUP')
  assert.deepEqual(await exit, [129, null])

  const next = await startHeadless(t, { folder })
  const phone = createPhone(device, next.ready.gateway)
  assert.ok(ITEM.equals(await phone.download()), 'the item')
  assert.equal((await readdir(join(folder, 'data', 'blobs'))).length, 1)
  assert.deepEqual(await readdir(join(folder, 'data', 'staging')), [])
  const patient = { daemon: next, device }
  await assertFit(patient, await examine(patient))
})

const needsBoth = needsMount.skip === false ? needsTracing : needsMount

it(
  'a daemon that nobody listens to goes on when it has something to say',
  needsTracing,
  async (t) => {
    const { daemon, device, phone } = await startPaired(t)
    await phone.pushFile('File', 'a', Buffer.from('kept'))
    const fitness = await examine({ daemon, device })
    daemon.child.stdout?.destroy()
    daemon.child.stderr?.destroy()
    const letGo = await inject(t, daemon.ready.pid, { calls: 'openat', fault: 'error=ENODEV' })
    for (let round = 0; round < 3; round++) assert.equal((await phone.fetch('/file/a')).status, 500)
    await letGo()
    // Its streams are closed by then.
    await assertFit({ daemon, device }, fitness)
    assert.equal(await daemon.stop(), 0)
  },
)

it('a daemon that nobody listens to starts with all its streams closed', async (t) => {
  const folder = await temporaryFolder(t)
  const wrapper = ['sh', '-c', 'exec "$@" <&- >&- 2>&-', 'sh']
  const child = daemonCommand(folder, headless({ wrapper })).spawn()
  t.after(() => child.kill('SIGKILL'))
  const exit = once(child, 'close')
  const command = daemonCommand(folder, { main })
  const lock = async () => readLockHolder(join(folder, 'data'))
  while ((await lock())?.control === undefined) assert.equal(child.exitCode, null)
  assert.equal(JSON.parse((await command.run('status', '--json')).stdout).running, true)
  child.kill('SIGTERM')
  assert.deepEqual(await exit, [0, null])
})

it(
  'a daemon that nobody listens to goes on when its log is on a full disk, and logs again later',
  needsBoth,
  async (t) => {
    const disk = mountSmallDisk(t, 1)
    const log = join(disk, 'log')
    const wrapper = ['sh', '-c', `exec "$@" 2>>${log}`, 'sh']
    // Commands append to it as well.
    const { daemon, device, phone } = await startPaired(t, { wrapper })
    await phone.pushFile('File', 'a', Buffer.from('kept'))
    const fitness = await examine({ daemon, device })
    const filler = join(disk, 'filler')
    await assert.rejects(writeFile(filler, Buffer.alloc(2 * 1024 * 1024)), { code: 'ENOSPC' })
    const fail = async (count: number): Promise<void> => {
      const letGo = await inject(t, daemon.ready.pid, { calls: 'openat', fault: 'error=ENODEV' })
      for (let round = 0; round < count; round++) {
        assert.equal((await phone.fetch('/file/a')).status, 500)
      }
      await letGo()
    }
    await fail(20)
    // What is left of a page is taken.
    const full = (await stat(log)).size
    assert.ok(full <= 4096, `${full}`)
    await rm(filler)
    await fail(1)
    assert.match((await readFile(log, 'utf8')).slice(full), /error A request failed id=/)
    await assertFit({ daemon, device }, fitness)
    assert.equal(await daemon.stop(), 0)
  },
)
