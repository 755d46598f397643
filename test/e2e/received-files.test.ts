/** Files that a phone was told have arrived, and a daemon that ends while it saves them. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { inject, needsTracing } from '../faults/support/trace.ts'
import { type DaemonProcess, startDaemonProcess } from '../support/daemon-process.ts'
import { sha256 } from '../support/hashes.ts'
import { ownerOf } from '../support/owner.ts'
import { createPhone, readObject } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Long enough to be copied in many blocks. */
const FILM_BYTES = 48 * 1024 * 1024

/** A desktop whose clipboard cannot be used yet: files are saved all the same. */
const DESKTOP = ['--clipboard', 'x11', '--min-free-bytes', '0']

async function setUp(t: TestContext) {
  const folder = await temporaryFolder(t)
  const received = join(folder, 'received')
  await mkdir(received, { mode: 0o700 })
  const start = (args: readonly string[] = [], devices: readonly string[] = []) =>
    startDaemonProcess(t, { folder, args: [...DESKTOP, ...args], devices })
  /** Resolves once all of these are in the folder, whole, and nothing else is. */
  const holds = async (films: Readonly<Record<string, Buffer>>): Promise<void> => {
    const wanted = Object.keys(films).sort().join()
    const look = async () => (await readdir(received)).sort().join()
    const watcher = watch(received)
    try {
      while ((await look()) !== wanted) {
        const changed = once(watcher, 'change')
        if ((await look()) !== wanted) await changed
      }
    } finally {
      watcher.close()
    }
    for (const [name, bytes] of Object.entries(films)) {
      assert.equal(sha256(await readFile(join(received, name))), sha256(bytes), name)
    }
  }
  return { folder, received, start, holds }
}

/** Kills a daemon as soon as something is written in a folder, or `push` has ended. */
async function killWhileSaving(
  received: string,
  daemon: DaemonProcess,
  push: () => Promise<unknown>,
): Promise<void> {
  const watcher = watch(received)
  const writing = once(watcher, 'change')
  await push()
  await writing
  await daemon.kill()
  watcher.close()
}

const newFilm = (): Buffer => randomBytes(FILM_BYTES)

describe('files that a phone was told have arrived', () => {
  it('are saved by the next start when the daemon is killed, each once, and nothing half is left', async (t) => {
    const { received, start, holds } = await setUp(t)
    const films = { 'a.mp4': newFilm(), 'b.mp4': newFilm(), 'c.mp4': newFilm() }
    const daemon = await start([], ['Phone'])
    const device = await daemon.pair('Phone')
    const phone = createPhone(device, daemon.ready.gateway)
    await killWhileSaving(received, daemon, async () => {
      for (const [name, bytes] of Object.entries(films)) await phone.pushFile('File', name, bytes)
      await phone.pushText('what came last')
    })
    const next = await start()
    await holds(films)
    const { text } = await createPhone(device, next.ready.gateway).document()
    assert.equal(text, 'what came last')
    assert.equal(await next.stop(), 0)
    // There is nothing left to save, and no bytes of those that are saved.
    const last = await start()
    assert.equal(await last.stop(), 0)
    await holds(films)
    assert.equal((await readdir(join(next.folder, 'data', 'blobs'))).length, 1)
  })

  it('are saved by the next start, also those of a batch', async (t) => {
    const { received, start, holds } = await setUp(t)
    const films = { 'a.mp4': newFilm(), 'b.mp4': newFilm() }
    const daemon = await start([], ['Phone'])
    const phone = createPhone(await daemon.pair('Phone'), daemon.ready.gateway)
    const batch = randomBytes(16).toString('hex')
    await phone.uploadBatch(batch, Object.entries(films))
    // The phone may not hear the answer, and does not ask again.
    const pushed = phone.pushBatch(batch, [1, 2]).then(readObject, () => undefined)
    await killWhileSaving(received, daemon, async () => undefined)
    await pushed
    await start()
    await holds(films)
  })

  it('are saved before the daemon stops, within the grace period', async (t) => {
    const { start, holds } = await setUp(t)
    const films = { 'a.mp4': newFilm(), 'b.mp4': newFilm() }
    const daemon = await start(['--grace', '5m'], ['Phone'])
    const phone = createPhone(await daemon.pair('Phone'), daemon.ready.gateway)
    for (const [name, bytes] of Object.entries(films)) await phone.pushFile('File', name, bytes)
    assert.equal(await daemon.stop(), 0)
    await holds(films)
    assert.doesNotMatch(daemon.log(), /not saved yet/)
  })

  it('are counted in the log without a grace period, and saved by the next start', async (t) => {
    const { received, start, holds } = await setUp(t)
    const films = { 'a.mp4': newFilm(), 'b.mp4': newFilm() }
    const daemon = await start(['--grace', '0'], ['Phone'])
    const phone = createPhone(await daemon.pair('Phone'), daemon.ready.gateway)
    for (const [name, bytes] of Object.entries(films)) await phone.pushFile('File', name, bytes)
    assert.equal(await daemon.stop(), 0)
    const missing = 2 - (await readdir(received)).filter((name) => name.endsWith('.mp4')).length
    const [, left = '0'] = /Files are not saved yet: .* left=(\d)/.exec(daemon.log()) ?? []
    assert.ok(Number(left) >= missing, `${left} of ${missing}`)
    assert.doesNotMatch(daemon.log(), /mp4|Cannot save/)
    await start()
    await holds(films)
  })

  /** A daemon whose folder is gone, a film that it was sent since, and a text after that. */
  async function setUpWithoutFolder(t: TestContext) {
    const { received, start, holds } = await setUp(t)
    await rmdir(received)
    // No folder can be made here.
    await writeFile(received, '')
    const daemon = await start([], ['Phone'])
    const device = await daemon.pair('Phone')
    const phone = createPhone(device, daemon.ready.gateway)
    const films = { 'a.mp4': randomBytes(1000) }
    await phone.pushFile('File', 'a.mp4', films['a.mp4'])
    await phone.pushText('what came last')
    while (!daemon.stderr().includes('trying again')) await phone.document()
    const mend = async (): Promise<void> => {
      await rm(received)
      await mkdir(received, { mode: 0o700 })
    }
    return { daemon, phone, films, mend, start, holds }
  }

  it('are saved once the folder is there again, and the owner is told meanwhile', async (t) => {
    const { daemon, films, mend, holds } = await setUpWithoutFolder(t)
    const { stdout } = await daemon.run('status')
    assert.match(stdout, /^Received +1 item \(1000 bytes\) not saved yet: .* \(E[A-Z]+\)$/m)
    assert.doesNotMatch(stdout + daemon.log(), /mp4/)
    await mend()
    await holds(films)
    const owner = await ownerOf(daemon)
    while ((await owner.status()).receivedError !== undefined);
    assert.equal(await daemon.stop(), 0)
    assert.equal((await readdir(join(daemon.folder, 'data', 'blobs'))).length, 1)
  })

  it('are saved by the next start, which a stop does not wait for', async (t) => {
    const { daemon, films, mend, start, holds } = await setUpWithoutFolder(t)
    assert.equal(await daemon.stop(), 0)
    assert.match(daemon.log(), /Files are not saved yet: .* left=1/)
    await mend()
    await start()
    await holds(films)
  })

  it('are saved after a kill while they wait, and the folder has them once', async (t) => {
    const { daemon, films, mend, start, holds } = await setUpWithoutFolder(t)
    await daemon.kill()
    await mend()
    const next = await start()
    await holds(films)
    assert.equal(await next.stop(), 0)
    await (await start()).stop()
    await holds(films)
  })

  it('are there once where a file cannot be opened for a moment', needsTracing, async (t) => {
    const { received, start, holds } = await setUp(t)
    const daemon = await start([], ['Phone'])
    const phone = createPhone(await daemon.pair('Phone'), daemon.ready.gateway)
    const fault = { calls: 'openat', fault: 'error=EMFILE', paths: [received] }
    const letGo = await inject(t, daemon.ready.pid, fault)
    const films = { 'a.mp4': randomBytes(1000) }
    await phone.pushFile('File', 'a.mp4', films['a.mp4'])
    const owner = await ownerOf(daemon)
    let told = (await owner.status()).receivedError
    while (told === undefined) told = (await owner.status()).receivedError
    assert.match(told, /not saved yet: too many files are open/)
    await letGo()
    while ((await owner.status()).receivedError !== undefined);
    await holds(films)
  })
})
