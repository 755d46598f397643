/** Uploads that are cut off, and whose daemon dies or is started again in the middle of them. */

import assert from 'node:assert/strict'
import { createHash, randomInt } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import type { DaemonProcess, PairedDevice } from '../support/daemon-process.ts'
import { mountSmallDisk, needsMount } from '../storage/support/small-disk.ts'
import { byNight } from '../support/night.ts'
import { createPhone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { askOnce, connectTo, formatHead } from './support/raw-device.ts'
import { commit, startHeadless } from './support/subject.ts'
import { inject, needsTracing } from './support/trace.ts'
import { MIB } from '../../src/core/limits.ts'
import { sha256 } from '../support/hashes.ts'

const PIECE = 'Content-Type: application/partial-upload\r\n'

/** Deaths of the daemon, and cuts of connections, of each upload. */
const BREAKS = byNight(200, { byDay: 12 })

interface Upload {
  readonly path: string
  readonly device: PairedDevice
  readonly bytes: Buffer
}

async function create(daemon: DaemonProcess, device: PairedDevice, bytes: Buffer): Promise<Upload> {
  const fields = `Upload-Complete: ?0\r\nUpload-Length: ${bytes.length}\r\n`
  const { status, headers } = await askOnce(daemon, 'PUT /file/film', device, '', fields)
  assert.equal(status, 201)
  return { path: headers['location'] ?? '', device, bytes }
}

async function offsetOf(daemon: DaemonProcess, { path, device }: Upload): Promise<number> {
  const { status, headers } = await askOnce(daemon, `HEAD ${path}`, device)
  assert.equal(status, 204)
  return Number(headers['upload-offset'])
}

/** Sends from an offset on, and breaks off when `bytes` have left. */
async function sendSome(
  daemon: DaemonProcess,
  { path, device, bytes }: Upload,
  offset: number,
  count: number,
) {
  const client = await connectTo(daemon)
  const fields = `${PIECE}Upload-Complete: ?1\r\nUpload-Offset: ${offset}\r\n`
  const length = `Content-Length: ${bytes.length - offset}\r\n`
  client.send(formatHead(`PATCH ${path}`, device, fields + length))
  await new Promise((resolve) => {
    client.socket.write(bytes.subarray(offset, offset + count), resolve)
  })
  return client
}

it('an upload goes on where it was, however often its connection is cut and its daemon dies', async (t) => {
  const folder = await temporaryFolder(t)
  const options = { folder, args: ['--min-free-bytes', '0', '--grace', '0'] }
  let daemon = await startHeadless(t, { ...options, devices: ['Phone'] })
  const device = await daemon.pair('Phone')
  const bytes = Buffer.alloc(24 * MIB, createHash('sha512').update('film').digest())
  const upload = await create(daemon, device, bytes)
  let before = 0
  for (let number = 0; number < BREAKS; number++) {
    const offset = await offsetOf(daemon, upload)
    assert.ok(offset >= before, `${offset} after ${before}`)
    before = offset
    const count = randomInt(1, 2 * Math.ceil(bytes.length / BREAKS))
    const client = await sendSome(
      daemon,
      upload,
      offset,
      Math.min(count, bytes.length - offset - 1),
    )
    if (number % 3 === 0) {
      await daemon.kill()
      daemon = await startHeadless(t, options)
    } else if (number % 3 === 1) {
      client.close()
    } else {
      assert.equal(await daemon.stop(), 0, daemon.stderr())
      daemon = await startHeadless(t, options)
    }
    client.close()
  }
  const offset = await offsetOf(daemon, upload)
  const client = await sendSome(daemon, upload, offset, bytes.length)
  const { status, headers } = await client.read()
  client.close()
  assert.deepEqual([status, headers['upload-complete']], [200, '?1'])
  // Whoever did not hear that asks again.
  await daemon.kill()
  daemon = await startHeadless(t, options)
  const state = await askOnce(daemon, `HEAD ${upload.path}`, device)
  assert.deepEqual([state.status, state.headers['upload-complete']], [204, '?1'])
  const phone = createPhone(device, daemon.ready.gateway)
  assert.equal(await commit(phone, 'film'), 200)
  assert.ok(bytes.equals(await phone.download()))
  const { hash } = await phone.document()
  assert.equal(String(hash).toLowerCase(), sha256(bytes))
  const data = join(folder, 'data')
  assert.equal((await readdir(join(data, 'blobs'))).length, 1)
  assert.deepEqual(await readdir(join(data, 'staging')), [])
  assert.equal(await daemon.stop(), 0, daemon.stderr())
})

it('an upload goes on where it was once a full disk has room again', needsMount, async (t) => {
  const disk = mountSmallDisk(t, 24)
  const args = ['--min-free-bytes', '0']
  const daemon = await startHeadless(t, { folder: disk, args, devices: ['Phone'] })
  const device = await daemon.pair('Phone')
  const phone = createPhone(device, daemon.ready.gateway)
  const bytes = Buffer.alloc(8 * MIB, createHash('sha512').update('film').digest())
  const upload = await create(daemon, device, bytes)
  const first = await sendSome(daemon, upload, 0, MIB)
  first.close()
  const before = await offsetOf(daemon, upload)
  // Somebody else takes the rest of the disk.
  const filler = join(disk, 'filler')
  await assert.rejects(writeFile(filler, Buffer.alloc(64 * MIB)), { code: 'ENOSPC' })
  const refused = await sendSome(daemon, upload, before, bytes.length)
  const { status, headers } = await refused.read()
  refused.close()
  assert.deepEqual([status, headers['upload-complete']], [507, '?0'])
  const offset = await offsetOf(daemon, upload)
  assert.ok(offset >= before && offset < bytes.length, String(offset))
  assert.equal((await phone.fetch('/')).status, 200)

  await rm(filler)
  const last = await sendSome(daemon, upload, offset, bytes.length)
  assert.equal((await last.read()).status, 200)
  last.close()
  assert.equal(await commit(phone, 'film'), 200)
  assert.ok(bytes.equals(await phone.download()))
  assert.equal(await daemon.stop(), 0)
})

/** Lets the disk fail in the last step of an upload, and then has it staged without another byte. */
async function completesLater(
  t: TestContext,
  folder: string,
  fail: (daemon: DaemonProcess) => Promise<() => Promise<void>>,
): Promise<void> {
  const options = { folder, args: ['--min-free-bytes', '0'], devices: ['Phone'] }
  const daemon = await startHeadless(t, options)
  const device = await daemon.pair('Phone')
  const bytes = Buffer.alloc(2 * MIB, createHash('sha512').update('film').digest())
  const upload = await create(daemon, device, bytes)
  const patch = async (offset: number, isLast: boolean, body = ''): Promise<readonly unknown[]> => {
    const state = `Upload-Offset: ${offset}\r\nUpload-Complete: ?${isLast ? 1 : 0}\r\n`
    const { status, headers } = await askOnce(
      daemon,
      `PATCH ${upload.path}`,
      device,
      body,
      PIECE + state,
    )
    return [status, headers['upload-complete']]
  }
  const [most, rest] = [bytes.subarray(0, -10), bytes.subarray(-10)]
  assert.deepEqual(await patch(0, false, most.toString('latin1')), [204, '?0'])
  const mend = await fail(daemon)
  assert.deepEqual(await patch(most.length, true, rest.toString('latin1')), [507, '?0'])
  assert.equal(await offsetOf(daemon, upload), bytes.length)
  assert.deepEqual(await patch(bytes.length, true), [507, '?0'])
  await mend()
  assert.equal(await offsetOf(daemon, upload), bytes.length)
  assert.deepEqual(await patch(bytes.length, true), [200, '?1'])
  const phone = createPhone(device, daemon.ready.gateway)
  assert.equal(await commit(phone, 'film'), 200)
  assert.ok(bytes.equals(await phone.download()))
  assert.deepEqual(await readdir(join(folder, 'data', 'staging')), [])
  assert.equal((await readdir(join(folder, 'data', 'blobs'))).length, 1)
  assert.equal(await daemon.stop(), 0, daemon.stderr())
}

it('an upload whose last step finds no room for a file is staged later', needsMount, async (t) => {
  const disk = mountSmallDisk(t, 24, 64)
  await completesLater(t, disk, async () => {
    const fillers = join(disk, 'fillers')
    await mkdir(fillers)
    const takeAll = async (): Promise<void> => {
      for (let number = 0; ; number++) await writeFile(join(fillers, String(number)), '')
    }
    await assert.rejects(takeAll(), { code: 'ENOSPC' })
    return () => rm(fillers, { recursive: true })
  })
})

for (const error of ['EIO', 'EDQUOT']) {
  it(`an upload whose last step fails with ${error} is staged later`, needsTracing, async (t) => {
    await completesLater(t, await temporaryFolder(t), ({ ready }) =>
      inject(t, ready.pid, { calls: 'rename', fault: `error=${error}` }),
    )
  })
}

it('an upload may rest for longer than timers can wait', async (t) => {
  const daemon = await startHeadless(t, { args: ['--staging-ttl', '30d'], devices: ['Phone'] })
  const device = await daemon.pair('Phone')
  const upload = await create(daemon, device, Buffer.alloc(10))
  assert.equal(await offsetOf(daemon, upload), 0)
  assert.equal(await daemon.stop(), 0)
  // Node warns of each timer that it cuts to a millisecond.
  assert.equal(daemon.stderr(), '')
})
