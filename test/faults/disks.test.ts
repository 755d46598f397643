import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, chown, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import {
  daemonCommand,
  type DaemonOptions,
  type DaemonProcess,
  type PairedDevice,
  startDaemonProcess,
} from '../support/daemon-process.ts'
import { createPhone, type Phone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { xclipCopy } from '../desktop/x11/support/xclip.ts'
import { Xvfb } from '../support/xvfb.ts'
import { mountSmallDisk, needsMount, setReadOnly } from '../storage/support/small-disk.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-folder.ts'
import { assertFit, examine } from './support/fitness.ts'
import { NEW_PHONE, ownerOf } from '../support/owner.ts'
import { connectTo, FORM_TYPE, formatHead } from './support/raw-device.ts'
import { takeSnapshot } from './support/snapshot.ts'
import { failToStart, main, stage, startHeadless, startPaired } from './support/subject.ts'
import { inject, type Injection, needsTracing, STANDSTILL } from './support/trace.ts'
import { MIB } from '../../src/core/limits.ts'

const PAGE = 4096

type Subject = Awaited<ReturnType<typeof startUsed>>

/** A daemon with an item and a staged upload, after one of everything that it does. */
async function startUsed(t: TestContext, options: DaemonOptions) {
  const paired = await startPaired(t, options)
  const { daemon, phone } = paired
  await phone.pushFile('File', 'kept', Buffer.alloc(100_000, 'kept'))
  await stage(phone, 'waits', 'it waits')
  /** Every file that is kept, but when devices were seen: that is written now and then. */
  const files = () =>
    takeSnapshot(join(daemon.folder, 'data'), (path) => !path.startsWith('sightings.json'))
  const fitness = await examine(paired)
  // Written a second after it is learnt how the device is answered: no fault may meet that.
  const sightings = join(daemon.folder, 'data', 'sightings.json')
  while (!existsSync(sightings)) await phone.fetch('/')
  return { ...paired, files, fitness }
}

/** Takes all the room that a disk has, but for `left` bytes. */
async function fill(disk: string, left = 0): Promise<() => Promise<void>> {
  const path = join(disk, 'filler')
  await assert.rejects(writeFile(path, Buffer.alloc(64 * MIB)), { code: 'ENOSPC' })
  const { size } = await stat(path)
  if (left > 0) await writeFile(path, Buffer.alloc(size - left))
  return () => rm(path)
}

type Push = (phone: Phone) => Promise<number>

async function statusOf(answer: Promise<Response>): Promise<number> {
  const response = await answer
  await response.arrayBuffer()
  return response.status
}

function put(path: string, body: string | Uint8Array): Push {
  return (phone) => statusOf(phone.fetch(path, { method: 'PUT', body }))
}

function postForm(bytes: number): Push {
  return (phone) => {
    const form = new FormData()
    form.append('type', 'File')
    form.append('hash', 'ab')
    form.append('data', new Blob([Buffer.alloc(bytes)]), 'posted')
    return statusOf(phone.fetch('/api/history', { method: 'POST', body: form }))
  }
}

const TEXT = put('/Sync.json', JSON.stringify({ type: 'Text', text: 'x'.repeat(20_000) }))
const COMMIT = put('/Sync.json', '{"type":"File","dataName":"waits","hasData":true}')
const FORM = postForm(1000)
const UPLOAD = put('/file/new', 'new')
/** Some of it is synced before the rest comes. */
const LARGE = put('/file/new', Buffer.alloc(40 * MIB))

/** A connection of its own, which is gone behind the answer. */
const CLOSING = { headers: { connection: 'close' } }

/** A device that the owner adds is refused, with the reason, and is not there. */
async function refusesOwner({ daemon, phone }: Subject): Promise<void> {
  const owner = await ownerOf(daemon)
  const message = /devices\.json: there is no space left/
  await assert.rejects(owner.pair(NEW_PHONE), { code: 'NO_SPACE', message })
  assert.equal((await phone.fetch('/')).status, 200)
  assert.equal((await owner.devices()).length, 1)
}

/** After a fault: everything is as before, and works. */
async function recovers(subject: Subject): Promise<void> {
  const { daemon, device, phone, fitness } = subject
  await assertFit({ daemon, device }, fitness)
  assert.equal(await COMMIT(phone), 200)
  assert.equal(String(await phone.download()), 'it waits')
  assert.equal(await FORM(phone), 200)
  assert.equal(await TEXT(phone), 200)
  const owner = await ownerOf(daemon)
  const rotated = await owner.rotate(device.id)
  assert.equal((await phone.fetch('/')).status, 401)
  assert.equal((await createPhone(rotated, daemon.ready.gateway).fetch('/')).status, 200)
  assert.equal(await daemon.stop(), 0)
  assert.equal(daemon.stderr(), '')
}

// They wait for what is tried again, or looked at again, after seconds.
const SIDE_BY_SIDE = { ...needsMount, concurrency: true } as const

describe('a daemon whose disk is full', SIDE_BY_SIDE, () => {
  // Protocol: 256 MiB stay free
  it('refuses what comes before it reads a byte of it', async (t) => {
    const disk = mountSmallDisk(t, 16)
    const subject = await startUsed(t, { folder: disk, args: ['--min-free-bytes', '4MiB'] })
    const { daemon, device, files } = subject
    const makeRoom = await fill(disk)
    const stored = files()
    for (const [line, type] of [
      ['PUT /file/new', ''],
      ['POST /api/history', FORM_TYPE],
    ] as const) {
      const client = await connectTo(daemon)
      const headers = `${type}Content-Length: 100\r\nExpect: 100-continue\r\n`
      client.send(formatHead(line, device, headers))
      const { status, body } = await client.read()
      assert.deepEqual([status, JSON.parse(body).code], [507, 'NO_SPACE'], line)
      assert.equal(await client.send('x'.repeat(100)).readToEnd(), '')
    }
    assert.deepEqual(files(), stored)
    await makeRoom()
    await recovers(subject)
  })

  it('refuses what no longer fits, keeps none of it, and goes on when there is room', async (t) => {
    const disk = mountSmallDisk(t, 16)
    const subject = await startUsed(t, { folder: disk, args: ['--min-free-bytes', '0'] })
    const { phone, files } = subject
    const stored = files()
    // It becomes full while they come.
    assert.equal(await put('/file/new', Buffer.alloc(20 * MIB))(phone), 507)
    assert.equal(await postForm(20 * MIB)(phone), 507)
    assert.deepEqual(files(), stored)
    assert.equal(await put('/file/waits', Buffer.alloc(20 * MIB))(phone), 507)
    // Where there was room for that, the record says now that a newer one of its name was begun.
    const isRecord = (path: string) => path.startsWith('staging/')
    const restOf = (all: typeof stored) => Object.entries(all).filter(([path]) => !isRecord(path))
    const isAsBefore = () => {
      assert.deepEqual(Object.keys(files()), Object.keys(stored))
      assert.deepEqual(restOf(files()), restOf(stored))
    }
    isAsBefore()

    const makeRoom = await fill(disk)
    for (const push of [TEXT, COMMIT, FORM, UPLOAD]) {
      assert.equal(await push(phone), 507)
    }
    await refusesOwner(subject)
    const { daemon } = subject
    const health = async () => {
      const response = await fetch(`${daemon.ready.control}/health`, CLOSING)
      const { storage } = await (await ownerOf(daemon)).status()
      return [response.status, await response.json(), storage.error]
    }
    const why = 'the disk is full'
    assert.deepEqual(await health(), [503, { status: 'failing', disk: why }, why])
    await makeRoom()
    // What was found out is kept for a moment.
    while ((await health())[0] !== 200);
    assert.deepEqual(await health(), [200, { status: 'ok' }, undefined])
    isAsBefore()
    await recovers(subject)
  })

  it('does not start, names the file, and leaves nothing behind', async (t) => {
    const disk = mountSmallDisk(t, 1)
    const subject = await startUsed(t, { folder: disk, args: ['--min-free-bytes', '0'] })
    assert.equal(await subject.daemon.stop(), 0)
    const stored = subject.files()
    const named = new Set<string>()
    let failures = 0
    for (let pages = 0; failures === pages; pages++) {
      const makeRoom = await fill(disk, pages * PAGE)
      const options = { args: ['--min-free-bytes', '0'] }
      const { code, stderr } = await failToStart(t, disk, options).catch((error: unknown) => {
        assert.match(String(error), /it started/)
        return { code: 0, stderr: '' }
      })
      if (code !== 0) {
        failures += 1
        assert.equal(code, 1)
        const pattern = /^Cannot use \S*\/(\S+): the disk is full; make room\n$/
        const [, name] = pattern.exec(stderr) ?? []
        assert.ok(name !== undefined, stderr)
        named.add(name)
        assert.deepEqual(subject.files(), stored)
      }
      await makeRoom()
    }
    assert.ok(named.size > 1, `failed at ${[...named].join()} only`)
    const again = await startHeadless(t, { folder: disk })
    const { document, bytes } = await examine({ daemon: again, device: subject.device })
    assert.deepEqual([document, bytes], [subject.fitness.document, subject.fitness.bytes])
  })
})

const needsDesktop = needsMount.skip === false ? needs('Xvfb') : needsMount

describe('a desktop whose disk has no room for a second copy of a file', needsDesktop, () => {
  it('acknowledges the push, leaves the disk its room, and says why the file is not there', async (t) => {
    const disk = mountSmallDisk(t, 32)
    const xvfb = await Xvfb.start(t)
    const daemon = await startDaemonProcess(t, {
      main,
      folder: disk,
      args: ['--min-free-bytes', '12MiB'],
      devices: ['Phone'],
      env: { DISPLAY: xvfb.display },
    })
    const phone = await daemon.phone()
    const bytes = Buffer.alloc(14 * MIB, 'bytes ')
    await phone.pushFile('File', 'large', bytes)
    const received = (): Promise<readonly string[]> =>
      readdir(join(disk, 'received')).catch(() => [])
    const isOver = async (): Promise<boolean> =>
      daemon.stderr().includes('Cannot hand the item on') || (await received()).includes('large')
    while (!(await isOver())) await phone.document()
    assert.match(daemon.stderr(), /Cannot hand the item on.*the disk is too full/)
    assert.deepEqual(await received(), [])
    const { bavail, bsize } = await statfs(disk)
    assert.ok(bavail * bsize >= 12 * MIB, `${bavail * bsize} bytes are free`)
    assert.ok(bytes.equals(await phone.download()))
    await phone.pushFile('File', 'small', Buffer.alloc(1000))
    while (!(await received()).includes('small')) await phone.document()
  })
})

describe('a small disk that has films on it which cannot be saved yet', needsMount, () => {
  for (const [minFreeBytes, mebibytes] of [
    ['0', 34],
    ['8MiB', 24],
  ] as const) {
    it(`takes what comes, with ${minFreeBytes} to be left free, and gives the oldest up`, async (t) => {
      const disk = mountSmallDisk(t, 48)
      await writeFile(join(disk, 'received'), 'no folder')
      const args = ['--clipboard', 'x11', '--min-free-bytes', minFreeBytes]
      const options = { main, folder: disk, args, devices: ['Phone'] }
      const daemon = await startDaemonProcess(t, options)
      const phone = await daemon.phone()
      for (const name of ['a', 'b']) {
        await phone.pushFile('File', name, Buffer.alloc(10 * MIB, name))
      }
      while (daemon.log().split('trying again').length < 3) await phone.document()
      assert.doesNotMatch(daemon.log(), /given up/)
      await phone.pushFile('File', 'large', Buffer.alloc(mebibytes * MIB))
      assert.equal((await phone.download()).length, mebibytes * MIB)
      assert.equal(daemon.log().split('its room was needed').length, 2)
      const { stdout } = await daemon.run('status')
      assert.match(stdout, /^Received .*; \d items? \(\d+ MiB\) given up: /m)
    })
  }

  it('takes what comes also where nothing is saved any more', async (t) => {
    const disk = mountSmallDisk(t, 48)
    await writeFile(join(disk, 'received'), 'no folder')
    const options = { main, folder: disk }
    const desktop = ['--clipboard', 'x11', '--min-free-bytes', '8MiB']
    const early = { args: desktop, devices: ['Phone'] }
    const first = await startDaemonProcess(t, { ...options, ...early })
    const device = await first.pair('Phone')
    const before = createPhone(device, first.ready.gateway)
    for (const name of ['a', 'b']) {
      await before.pushFile('File', name, Buffer.alloc(12 * MIB, name))
    }
    assert.equal(await first.stop(), 0)
    const next = await startHeadless(t, { ...options, args: ['--min-free-bytes', '8MiB'] })
    const phone = createPhone(device, next.ready.gateway)
    for (const name of ['c', 'd']) {
      await phone.pushFile('File', name, Buffer.alloc(14 * MIB, name))
      assert.equal((await phone.download()).length, 14 * MIB)
    }
  })
})

describe('a daemon whose disk fails', needsTracing, () => {
  const DISK_CALLS: Readonly<Record<string, readonly (readonly [Injection, readonly Push[]])[]>> = {
    'to take bytes': [
      [{ calls: 'pwritev,pwrite64', fault: 'error=ENOSPC' }, [UPLOAD, FORM]],
      // Files may not be larger.
      [{ calls: 'pwritev,pwrite64', fault: 'error=EFBIG' }, [UPLOAD, FORM]],
    ],
    'to rename': [
      [{ calls: 'rename', fault: 'error=ENOSPC' }, [TEXT, COMMIT, FORM, UPLOAD]],
      [{ calls: 'rename', fault: 'error=EIO' }, [TEXT, COMMIT, FORM, UPLOAD]],
    ],
    'to sync': [
      [{ calls: 'fsync', fault: 'error=ENOSPC' }, [TEXT, COMMIT, FORM]],
      [{ calls: 'fsync', fault: 'error=EIO' }, [TEXT, COMMIT, FORM]],
      [{ calls: 'fdatasync', fault: 'error=EIO' }, [COMMIT, FORM, LARGE]],
      // The last sync is that of the folder, when the new file is in its place already. Bytes that
      // come with the document take one more before.
      [{ calls: 'fsync', fault: 'error=EIO:when=1' }, [FORM]],
      [{ calls: 'fsync', fault: 'error=EIO:when=2' }, [TEXT, COMMIT, FORM]],
      [{ calls: 'fsync', fault: 'error=EIO:when=3' }, [FORM]],
    ],
    'to create files': [
      [{ calls: 'openat', fault: 'error=EROFS' }, [TEXT, FORM, UPLOAD]],
      [{ calls: 'openat', fault: 'error=EDQUOT' }, [TEXT, FORM, UPLOAD]],
    ],
  }
  for (const [what, cases] of Object.entries(DISK_CALLS)) {
    it(`${what} acknowledges nothing, and has everything as it was`, async (t) => {
      // One thread for all files: strace counts the calls of each thread by itself.
      const subject = await startUsed(t, { env: { UV_THREADPOOL_SIZE: '1' } })
      const { daemon, phone, files } = subject
      const stored = files()
      for (const [injection, pushes] of cases) {
        for (const push of pushes) {
          const letGo = await inject(t, daemon.ready.pid, injection)
          assert.equal(await push(phone), 507, `${injection.calls} ${injection.fault}`)
          await letGo()
          assert.deepEqual(files(), stored)
        }
      }
      await recovers(subject)
    })
  }

  it('to save devices adds none', async (t) => {
    const subject = await startUsed(t, {})
    for (const calls of ['rename', 'fsync']) {
      const letGo = await inject(t, subject.daemon.ready.pid, { calls, fault: 'error=ENOSPC' })
      await refusesOwner(subject)
      await letGo()
    }
    await recovers(subject)
  })

  for (const [calls, when, name] of [
    ['rename', 1, 'data/computer.id'],
    ['rename', 2, 'data/control.token'],
    ['rename', 3, 'data/lock'],
    ['fsync', 1, 'data'],
    ['fsync', 2, 'data'],
    ['fsync', 3, 'data/computer.id'],
    ['fsync', 4, 'data/computer.id'],
    ['fsync', 5, 'data/lock'],
    ['fsync', 6, 'data/lock'],
  ] as const) {
    it(`at its start, at ${calls} ${when}, names ${name} and leaves nothing`, async (t) => {
      const folder = await temporaryFolder(t)
      const rules = ['-e', `trace=${calls}`, '-e', `inject=${calls}:error=ENOSPC:when=${when}`]
      const { code, stderr } = await failToStart(t, folder, {
        env: { UV_THREADPOOL_SIZE: '1' },
        wrapper: ['strace', '-f', '-qq', '-o', '/dev/null', ...rules],
      })
      assert.equal(stderr, `Cannot use ${folder}/${name}: the disk is full; make room\n`)
      assert.equal(code, 1)
      const { ['data/computer.id']: _, ['data/control.token']: __, ...left } = takeSnapshot(folder)
      const folders = name === 'data' ? ['data'] : ['data', 'data/blobs', 'data/staging']
      const expected = folders.map((path) => [path, 'folder 700'])
      assert.deepEqual(left, Object.fromEntries(expected))
    })
  }
})

describe('a daemon whose disk is read-only', needsMount, () => {
  it('serves what it has, takes nothing, and goes on when it is writable again', async (t) => {
    const options = { folder: mountSmallDisk(t, 16), args: ['--min-free-bytes', '0'] }
    const subject = await startUsed(t, options)
    const { daemon, device, phone, fitness, files } = subject
    const stored = files()
    setReadOnly(daemon.folder, 'ro')
    for (const push of [TEXT, COMMIT, FORM, UPLOAD]) {
      assert.equal(await push(phone), 507)
    }
    await assertFit({ daemon, device }, fitness)
    const owner = await ownerOf(daemon)
    const message = /devices\.json: the system says EROFS/
    await assert.rejects(owner.pair(NEW_PHONE), { message })
    assert.deepEqual(files(), stored)
    setReadOnly(daemon.folder, 'rw')
    await recovers(subject)
  })

  it('ends as it should, says what stays, and starts once it is writable again', async (t) => {
    const folder = mountSmallDisk(t, 16)
    const { daemon } = await startUsed(t, { folder, args: ['--min-free-bytes', '0'] })
    setReadOnly(folder, 'ro')
    assert.equal(await daemon.stop(), 0)
    assert.match(
      daemon.stderr(),
      /Cannot remove the lock, which the next start sees is stale.*EROFS/,
    )
    setReadOnly(folder, 'rw')
    assert.equal(await (await startDaemonProcess(t, { folder })).stop(), 0)
  })

  it('does not start, and says so', async (t) => {
    const disk = mountSmallDisk(t, 1)
    setReadOnly(disk, 'ro')
    const { code, stderr } = await failToStart(t, disk)
    const reason = 'the file system is read-only; choose another place'
    assert.equal(stderr, `Cannot use ${disk}/data: ${reason}\n`)
    assert.equal(code, 1)
  })
})

/** A device whose owner shuts it out while the disk takes nothing. */
async function shutOut(
  t: TestContext,
  spoil: (disk: string) => Promise<() => Promise<void>>,
): Promise<void> {
  const options = { folder: mountSmallDisk(t, 16), args: ['--min-free-bytes', '0'] }
  const devices = ['Phone', 'Lost', 'Old']
  const { daemon, phone } = await startUsed(t, { ...options, devices })
  const [lost, old] = [await daemon.pair('Lost'), await daemon.pair('Old')]
  const isIn = async (device: PairedDevice, { ready }: DaemonProcess): Promise<boolean> => {
    return (await createPhone(device, ready.gateway).fetch('/')).status === 200
  }
  assert.deepEqual([await isIn(lost, daemon), await isIn(old, daemon)], [true, true])
  const mend = await spoil(daemon.folder)

  const revoked = await daemon.run('revoke', '--json', lost.id).catch((failure: unknown) => failure)
  assert.ok(revoked instanceof Error && 'code' in revoked && 'stdout' in revoked, String(revoked))
  const { id, unsaved } = JSON.parse(String(revoked.stdout))
  assert.deepEqual([revoked.code, id], [1, lost.id])
  assert.match(unsaved, /Cannot save .*devices\.json/)
  await assert.rejects(daemon.run('rotate', old.id), {
    code: 1,
    stdout: '',
    stderr: /no new password/,
  })
  assert.deepEqual([await isIn(lost, daemon), await isIn(old, daemon)], [false, false])
  assert.equal((await phone.fetch('/')).status, 200)
  const owner = await ownerOf(daemon)
  assert.equal((await owner.status()).devicesError, unsaved)
  assert.deepEqual(
    (await owner.devices()).map(({ active }) => active),
    [true, false],
  )

  await mend()
  while ((await owner.status()).devicesError !== undefined) continue
  await daemon.kill()
  const next = await startHeadless(t, options)
  assert.deepEqual([await isIn(lost, next), await isIn(old, next)], [false, false])
  const renewed = JSON.parse((await next.run('rotate', '--json', old.id)).stdout)
  assert.equal(await isIn(renewed, next), true)
}

describe('a device that is shut out', SIDE_BY_SIDE, () => {
  it('is out at once while the disk is full, and is out for good when there is room', async (t) => {
    await shutOut(t, (disk) => fill(disk))
  })

  it('is out at once while the disk is read-only, and is out for good afterwards', async (t) => {
    await shutOut(t, async (disk) => {
      setReadOnly(disk, 'ro')
      return async () => setReadOnly(disk, 'rw')
    })
  })

  it('comes back with a restart before there is room, of which the log warns', async (t) => {
    const options = { folder: mountSmallDisk(t, 16), args: ['--min-free-bytes', '0'] }
    const { daemon } = await startUsed(t, { ...options, devices: ['Phone', 'Lost'] })
    // What a device has staged makes room when it goes; this one has nothing.
    const device = await daemon.pair('Lost')
    const makeRoom = await fill(daemon.folder)
    assert.match((await (await ownerOf(daemon)).revoke(device.id)).unsaved ?? '', /no space left/)
    assert.equal(await daemon.stop(), 0)
    assert.match(
      daemon.stderr(),
      /error Credentials that have ended count again from the next start on/,
    )
    await makeRoom()
    const next = await startHeadless(t, options)
    assert.equal((await createPhone(device, next.ready.gateway).fetch('/')).status, 200)
  })
})

it(
  'a command without a daemon shuts nobody out when it cannot save that, and changes nothing',
  needs('prlimit'),
  async (t) => {
    const devices = ['Phone', 'Second', 'Third', 'Fourth']
    const { daemon, device, files } = await startUsed(t, { devices })
    assert.equal(await daemon.stop(), 0)
    const stored = files()
    // The lock fits, and the devices do not.
    const wrapper = ['prlimit', '--fsize=700']
    const limited = daemonCommand(daemon.folder, { main, wrapper })
    for (const command of ['revoke', 'rotate']) {
      const stderr = /^Cannot save .*devices\.json: there is no space left$/m
      await assert.rejects(limited.run(command, device.id), { code: 1, stdout: '', stderr })
      assert.deepEqual(files(), stored)
    }
  },
)

const NOBODY = 65_534

const asNobody = process.geteuid?.() === 0 ? needs('setpriv') : { skip: 'skipped: needs root' }

describe('a daemon whose folders were made read-only', asNobody, () => {
  it('takes nothing meanwhile, and goes on when they are writable again', async (t) => {
    const folder = await temporaryFolder(t)
    await chown(folder, NOBODY, NOBODY)
    const user = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups']
    const subject = await startUsed(t, { folder, wrapper: ['setpriv', ...user] })
    const { daemon, device, phone, fitness, files } = subject
    const data = join(folder, 'data')
    const folders = [data, join(data, 'blobs'), join(data, 'staging')]
    for (const path of folders) await chmod(path, 0o500)
    const stored = files()
    for (const push of [TEXT, COMMIT, FORM, UPLOAD]) {
      assert.equal(await push(phone), 507)
    }
    await assertFit({ daemon, device }, fitness)
    assert.deepEqual(files(), stored)
    for (const path of folders) await chmod(path, 0o700)
    await recovers(subject)
  })
})

const needsShare = needsTracing.skip === false ? needs('Xvfb', 'xclip') : needsTracing

describe('a desktop with files copied from a share that hangs', needsShare, () => {
  for (const [what, downloads, calls] of [
    ['a file that six ask for', 6, 'openat,mkdir,statx'],
    ['a folder that one asks for', 1, 'openat,mkdir,statx'],
  ] as const) {
    it(`serves all else beside ${what}`, async (t) => {
      const { display, daemon, phone, share, files } = await startBesideShare(t, 5)
      const [file = ''] = files
      const copied = downloads === 1 ? share : file
      await xclipCopy(t, display, `file://${copied}\r\n`, 'text/uri-list')
      while ((await phone.document())['hasData'] !== true) continue
      const paths = downloads === 1 ? files : [file]
      const received = join(daemon.folder, 'received')
      const fault = { calls, fault: STANDSTILL, paths: [...paths, received] }
      const letGo = await inject(t, daemon.ready.pid, fault)
      const asked = Array.from({ length: downloads }, () => phone.download())
      for (let look = 0; look < 20; look += 1) await phone.document()
      // Their copies in the folder of received files hang, too.
      for (const name of ['a', 'b', 'c']) await phone.pushFile('File', name, Buffer.from(name))
      assert.equal(await UPLOAD(phone), 200)
      assert.equal(await TEXT(phone), 200)
      await letGo()
      for (const bytes of await Promise.all(asked)) assert.ok(bytes.includes('shared'))
    })
  }

  it('serves all else while several of them are copied together', async (t) => {
    const { display, daemon, phone, share, files } = await startBesideShare(t, 4)
    const fault = { calls: 'readlink,lstat,statx', fault: STANDSTILL, paths: [share, ...files] }
    const letGo = await inject(t, daemon.ready.pid, fault)
    const list = files.map((path) => `file://${path}\r\n`).join('')
    await xclipCopy(t, display, list, 'text/uri-list')
    while (standing(daemon.ready.pid) === 0) await phone.fetch('/')
    assert.equal(await UPLOAD(phone), 200)
    assert.equal(await TEXT(phone), 200)
    await letGo()
  })

  it('shares what is copied next while it cannot be seen whether they are there', async (t) => {
    const { display, daemon, phone, files } = await startBesideShare(t, 6)
    const fault = { calls: 'access,faccessat,faccessat2', fault: STANDSTILL, paths: files }
    const letGo = await inject(t, daemon.ready.pid, fault)
    const list = files.map((path) => `file://${path}\r\n`).join('')
    await xclipCopy(t, display, list, 'text/uri-list')
    while (standing(daemon.ready.pid) === 0) await phone.fetch('/')
    await xclipCopy(t, display, 'copied next')
    while ((await phone.document())['text'] !== 'copied next') continue
    assert.equal(await UPLOAD(phone), 200)
    await letGo()
  })

  it('shares what is copied next from another folder while two ask for one file', async (t) => {
    const { display, daemon, phone, files } = await startBesideShare(t, 1)
    const [hangs = ''] = files
    const next = await temporaryFile(t, 'next', 'healthy')
    await xclipCopy(t, display, `file://${hangs}\r\n`, 'text/uri-list')
    while ((await phone.document())['text'] !== '1') continue
    const fault = { calls: 'openat,statx', fault: STANDSTILL, paths: [hangs] }
    const letGo = await inject(t, daemon.ready.pid, fault)
    const asked = [phone.download(), phone.download()]
    for (let look = 0; look < 100; look += 1) await phone.fetch('/')
    await xclipCopy(t, display, `file://${next}\r\n`, 'text/uri-list')
    while ((await phone.document())['text'] !== 'next') continue
    await letGo()
    for (const bytes of await Promise.all(asked)) assert.equal(String(bytes), 'shared')
  })

  for (const [what, calls] of [
    ['looked for', 'lstat,statx'],
    ['read', 'pread64'],
  ] as const) {
    it(`saves what is pushed while one after the other is copied and ${what}`, async (t) => {
      const { display, daemon, phone, files } = await startBesideShare(t, 4)
      const fault = { calls, fault: STANDSTILL, paths: files }
      const letGo = await inject(t, daemon.ready.pid, fault)
      for (const path of files) {
        await xclipCopy(t, display, `file://${path}\r\n`, 'text/uri-list')
        while (standing(daemon.ready.pid) === 0) await phone.fetch('/')
      }
      for (let look = 0; look < 100; look += 1) await phone.fetch('/')
      await phone.pushFile('File', 'a', Buffer.from('pushed'))
      while (!existsSync(join(daemon.folder, 'received', 'a'))) await phone.fetch('/')
      await letGo()
    })
  }

  it('takes large files while one that is copied is hashed', async (t) => {
    const { display, daemon, phone, files } = await startBesideShare(t, 1)
    const [hangs = ''] = files
    await writeFile(hangs, Buffer.alloc(8 * MIB))
    // Each thread reads a few pieces, so that more is there than a worker would be started for.
    const fault = { calls: 'pread64', fault: `${STANDSTILL}:when=6+`, paths: files }
    const letGo = await inject(t, daemon.ready.pid, fault)
    await xclipCopy(t, display, `file://${hangs}\r\n`, 'text/uri-list')
    // That which reads and that which hashes stand still, and not only while they are looked at.
    for (let looks = 0; looks < 100; looks += 1) {
      if (standing(daemon.ready.pid) < 2) looks = 0
      await phone.fetch('/')
    }
    await phone.pushFile('File', 'large', Buffer.alloc(2 * MIB))
    await letGo()
  })
})

describe('a desktop whose folder of received files hangs from its start on', needsShare, () => {
  it('takes what is sent', async (t) => {
    const { display } = await Xvfb.start(t)
    const options = { main, devices: ['Phone'], env: { DISPLAY: display } }
    const first = await startDaemonProcess(t, options)
    const { folder } = first
    const device = await first.pair('Phone')
    await createPhone(device, first.ready.gateway).pushFile('File', 'a', Buffer.from('a'))
    const received = join(folder, 'received')
    while (!existsSync(join(received, 'a'))) await first.run('status')
    assert.equal(await first.stop(), 0)
    const calls = 'lstat,openat,statx'
    const rules = ['-P', received, '-e', `trace=${calls}`, '-e', `inject=${calls}:${STANDSTILL}`]
    const wrapper = ['strace', '-f', '-qq', '-o', '/dev/null', ...rules]
    const next = await startDaemonProcess(t, { main, folder, env: { DISPLAY: display }, wrapper })
    // It outlives whoever traces it.
    t.after(() => process.kill(next.ready.pid, 'SIGKILL'))
    const phone = createPhone(device, next.ready.gateway)
    // It is looked at for what is unfinished, for what was on the clipboard, and for these.
    while (standing(next.ready.pid) === 0) await phone.fetch('/')
    for (const name of ['b', 'c']) await phone.pushFile('File', name, Buffer.from(name))
    for (let look = 0; look < 100; look += 1) await phone.fetch('/')
    assert.equal(await UPLOAD(phone), 200)
    assert.equal(await TEXT(phone), 200)
  })
})

/** A desktop beside a folder of `count` files, which can be made to hang. */
async function startBesideShare(t: TestContext, count: number) {
  const { display } = await Xvfb.start(t)
  const options = { main, devices: ['Phone'], env: { DISPLAY: display } }
  const daemon = await startDaemonProcess(t, options)
  const phone = await daemon.phone()
  const share = await temporaryFolder(t)
  const files = Array.from({ length: count }, (_, at) => join(share, `${at + 1}`))
  for (const file of files) await writeFile(file, 'shared')
  return { display, daemon, phone, share, files }
}

/** How many threads of a process stand still in a call. */
function standing(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const stats = threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8'))
  return stats.filter((stat) => /\) t /.test(stat)).length
}
