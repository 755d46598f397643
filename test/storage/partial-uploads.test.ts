import assert from 'node:assert/strict'
import { open, readdir, readFile, readlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setImmediate as tick } from 'node:timers/promises'
import type { DiskBlobStore } from '../../src/storage/blobs/disk-blob-store.ts'
import type { PartialUpload, StagingArea, UploadSource } from '../../src/ports/staging-area.ts'
import { readText, streamOf } from '../support/byte-streams.ts'
import { sha256 } from '../support/hashes.ts'
import { openTestDevices } from '../support/test-devices.ts'
import { header, stageUpload } from '../support/staging-contract.ts'
import { openTestStorage, pathOfBlob, type OpenedStorage } from './support/open-stores.ts'
import { mountSmallDisk, needsMount } from './support/small-disk.ts'
import { MIB } from '../../src/core/limits.ts'

const HOUR = 3_600_000

function sourceOf(more: Partial<UploadSource> = {}) {
  return { deviceId: 'did_a', dataName: 'a', declaredSize: undefined, ...more }
}

/** Begins an upload with its first bytes. */
async function begin(
  staging: StagingArea,
  text: string | Uint8Array,
  more: Partial<UploadSource> = {},
): Promise<PartialUpload> {
  const upload = await staging.begin(sourceOf(more))
  await append(upload, text)
  return upload
}

async function append(upload: PartialUpload, text: string | Uint8Array): Promise<void> {
  const held = await upload.seize()
  try {
    await held.append(streamOf(text), () => {})
  } finally {
    held.release()
  }
}

/** Stages an upload. @returns Its bytes. */
async function finish(upload: PartialUpload): Promise<string> {
  const held = await upload.seize()
  const received = await held.finish()
  const { dataName } = upload
  const { blob } = await received.stage({ dataName, mediaType: 'text/plain' })
  held.release()
  assert.equal(blob.digests.sha256, sha256(await readText(blob)))
  return readText(blob)
}

/** The upload of a token. */
function found({ staging }: OpenedStorage, token: string, deviceId = 'did_a'): PartialUpload {
  const upload = staging.find(deviceId, token)
  assert.ok(upload !== undefined, 'it is there')
  return upload
}

/** Changes the only record as if it had been written in another boot. */
async function bootAgain({ folder, stagingFiles }: OpenedStorage): Promise<void> {
  const [name = ''] = await stagingFiles()
  const path = join(folder, 'staging', name)
  const record = JSON.parse(await readFile(path, 'utf8'))
  await writeFile(path, `${JSON.stringify({ ...record, bootId: 'another' })}\n`)
}

/** How many files of blobs this process has open. */
async function openBlobs({ folder }: OpenedStorage): Promise<number> {
  const fds = await readdir('/proc/self/fd')
  const paths = await Promise.all(fds.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')))
  return paths.filter((path) => path.startsWith(join(folder, 'blobs/'))).length
}

describe('what has come of an upload', () => {
  it('survives a restart, and is hashed with what comes then', async (t) => {
    const storage = await openTestStorage(t)
    const large = 'hello '.repeat(300_000)
    const { token } = await begin(storage.staging, large, {
      contentType: 'text/plain',
      declaredSize: large.length + 5,
    })
    const again = await storage.restart()
    const upload = found(again, token)
    assert.deepEqual(
      [upload.offset, upload.length, upload.source.contentType, upload.isComplete],
      [large.length, large.length + 5, 'text/plain', false],
    )
    await append(upload, 'world')
    assert.equal(await finish(upload), `${large}world`)
    const staged = (await again.restart()).staging.take('did_a', 'a')
    assert.equal(staged && (await readText(staged.blob)), `${large}world`)
  })

  it('leaves what waits under its name alone, also over a restart', async (t) => {
    const storage = await openTestStorage(t)
    await finish(await begin(storage.staging, 'whole'))
    const { token } = await begin(storage.staging, 'beg')
    const again = await storage.restart()
    assert.equal(found(again, token).offset, 3)
    const staged = again.staging.take('did_a', 'a')
    assert.equal(staged && (await readText(staged.blob)), 'whole')
  })

  it('survives a restart with what its sender promised', async (t) => {
    const storage = await openTestStorage(t)
    const promised = sha256('hello world')
    const { token } = await begin(storage.staging, 'hello', { sha256: promised })
    assert.equal(found(await storage.restart(), token).source.sha256, promised)
  })

  it('survives a second restart, as one that began anew', async (t) => {
    let storage = await openTestStorage(t)
    const { token } = await begin(storage.staging, 'one ')
    for (const text of ['two ', 'three ']) {
      storage = await storage.restart()
      await append(found(storage, token), text)
    }
    storage = await storage.restart()
    assert.equal(await finish(found(storage, token)), 'one two three ')
  })

  it('survives a boot when the daemon was stopped before', async (t) => {
    const storage = await openTestStorage(t)
    const { token } = await begin(storage.staging, 'hello')
    const again = await storage.restart(() => bootAgain(storage))
    assert.equal(await finish(found(again, token)), 'hello')
  })

  for (const size of [0, 4, 6]) {
    it(`is given up after a boot with ${size} bytes of 5`, async (t) => {
      const storage = await openTestStorage(t)
      const { token } = await begin(storage.staging, 'hello')
      const path = await pathOfBlob(storage)
      const again = await storage.restart(async () => {
        await bootAgain(storage)
        await truncate(path, size)
      })
      assert.equal(again.staging.find('did_a', token), undefined)
      assert.deepEqual([await again.blobFiles(), await again.stagingFiles()], [[], []])
    })
  }

  it('is known to be complete after a restart, while it waits and for an hour at most', async (t) => {
    const storage = await openTestStorage(t)
    const taken = await begin(storage.staging, 'hello', { dataName: 'taken' })
    const kept = await begin(storage.staging, 'hello, world')
    for (const upload of [taken, kept]) await finish(upload)
    await storage.staging.take('did_a', 'taken')?.discard()
    storage.clock.advance(HOUR / 2)
    const again = await storage.restart()
    assert.equal(again.staging.find('did_a', taken.token), undefined)
    const { isComplete, offset, length, remainingMs } = found(again, kept.token)
    assert.deepEqual([isComplete, offset, length, remainingMs], [true, 12, 12, HOUR / 2])
    const late = await again.restart(async () => again.clock.jump(HOUR / 2))
    assert.equal(late.staging.find('did_a', kept.token), undefined)
    assert.deepEqual([await late.stagingFiles(), await late.blobFiles()], [[], []])
    assert.equal(late.clock.pending, 0)
  })

  it('is what the file has when the daemon died', async (t) => {
    const storage = await openTestStorage(t)
    const { token } = await begin(storage.staging, 'hello')
    const path = await pathOfBlob(storage)
    const again = await storage.restart(async () => {
      const file = await open(path, 'a')
      await file.write(' wor')
      await file.close()
    })
    const upload = found(again, token)
    assert.equal(upload.offset, 9)
    await append(upload, 'ld')
    assert.equal(await finish(upload), 'hello world')
  })

  it('is complete where it waits by now, also after a crash before its record was removed', async (t) => {
    const storage = await openTestStorage(t)
    const upload = await begin(storage.staging, 'hello')
    const [name = ''] = await storage.stagingFiles()
    const path = join(storage.folder, 'staging', name)
    const record = await readFile(path)
    await finish(upload)
    const again = await storage.restart(() => writeFile(path, record))
    assert.equal(found(again, upload.token).isComplete, true)
    assert.equal((await again.stagingFiles()).length, 1)
    const taken = again.staging.take('did_a', 'a')
    assert.equal(taken && (await readText(taken.blob)), 'hello')
  })

  it('leaves alone a record that cannot be read, and its bytes', async (t) => {
    const storage = await openTestStorage(t)
    await begin(storage.staging, 'hello')
    const [name = ''] = await storage.stagingFiles()
    const again = await storage.restart(() =>
      writeFile(join(storage.folder, 'staging', name), '{"version":2}\n'),
    )
    assert.equal((await again.blobFiles()).length, 1)
    assert.equal((await again.stagingFiles()).length, 1)
    assert.equal(again.logger.lines.length, 1)
  })

  it('is kept for more uploads than stay open', async (t) => {
    const storage = await openTestStorage(t, { limits: { maxStagedPerDevice: 50 } })
    const { staging } = storage
    const names = Array.from({ length: 40 }, (_, index) => `name ${index}`)
    const uploads = []
    for (const dataName of names) uploads.push(await begin(staging, `${dataName} `, { dataName }))
    if (process.platform === 'linux') {
      // Files are closed a moment after the next upload rests; a bounded number of looks.
      for (let looks = 0; looks < 10_000 && (await openBlobs(storage)) > 32; looks++) await tick()
      assert.equal(await openBlobs(storage), 32)
    }
    for (const upload of uploads) await append(upload, 'again')
    for (const upload of uploads) {
      assert.equal(await finish(upload), `${upload.dataName} again`)
    }
  })

  it('goes on after its file could not be closed, which the log tells', async (t) => {
    const storage = await openTestStorage(t, { limits: { maxStagedPerDevice: 50 } })
    const { staging, logger } = storage
    const begun = (index: number) => begin(staging, 'one ', { dataName: `name ${index}` })
    const blobs = storage.blobs as DiskBlobStore
    const beginFile = blobs.begin.bind(blobs)
    t.mock.method(blobs, 'begin', async (...how: Parameters<DiskBlobStore['begin']>) => {
      const file = await beginFile(...how)
      const close = file.close.bind(file)
      file.close = async () => {
        await close()
        throw Object.assign(new Error('i/o error'), { code: 'EIO', syscall: 'close' })
      }
      return file
    })
    const first = await begun(0)
    t.mock.restoreAll()
    for (let index = 1; index < 40; index++) await begun(index)
    while (logger.lines.length === 0) await setImmediate()
    assert.match(logger.text, /Cannot close the file of an upload.*EIO \(close\)/)
    await append(first, 'two')
    assert.equal(await finish(first), 'one two')
  })
})

describe('an upload of a device that is shut out', () => {
  async function shutOut(t: TestContext) {
    const devices = await openTestDevices()
    const storage = await openTestStorage(t, { devices })
    const { device } = await devices.add({ kind: 'phone' })
    const { id: deviceId, passwordHash } = device
    devices.onCredentialGone((id) => storage.staging.drop(id))
    /** Returns when nothing may be left. */
    const drop = async (): Promise<void> => {
      await devices.revoke(deviceId)
      assert.deepEqual([await storage.blobFiles(), await storage.stagingFiles()], [[], []])
    }
    return { ...storage, source: sourceOf({ deviceId, passwordHash }), drop }
  }

  it('leaves nothing while it is begun', async (t) => {
    const { staging, source, drop } = await shutOut(t)
    const refused = assert.rejects(staging.begin(source), { code: 'CREDENTIAL_GONE' })
    await drop()
    await refused
  })

  it('leaves nothing while its record is written', async (t) => {
    const { staging, source, drop, stagingFiles } = await shutOut(t)
    const upload = await staging.begin(source)
    const held = await upload.seize()
    const noted = held.setLength(9).catch(() => undefined)
    await drop()
    await noted
    await assert.rejects(held.setLength(10), { code: 'CREDENTIAL_GONE' })
    held.release()
    assert.deepEqual(await stagingFiles(), [])
  })

  it('leaves nothing while it is put together', async (t) => {
    const { staging, source, drop } = await shutOut(t)
    const upload = await begin(staging, Buffer.alloc(3 * MIB, 'x'), source)
    const held = await upload.seize()
    const refused = assert.rejects(held.finish(), { code: 'CREDENTIAL_GONE' })
    await drop()
    await refused
    held.release()
  })

  it('leaves nothing while it is staged', async (t) => {
    const { staging, source, drop } = await shutOut(t)
    const upload = await begin(staging, 'hello', source)
    const held = await upload.seize()
    const received = await held.finish()
    const name = { dataName: 'a', mediaType: 'text/plain' }
    const refused = assert.rejects(received.stage(name), { code: 'CREDENTIAL_GONE' })
    await drop()
    await refused
    held.release()
  })
})

describe('the room of an upload that can be resumed', () => {
  const limits = { stagingQuotaBytes: 4 * MIB }
  const block = Buffer.alloc(MIB, 'x')

  // Protocol: counts in the quota
  it('counts in the quota, also while no bytes come', async (t) => {
    const { staging } = await openTestStorage(t, { limits })
    const upload = await begin(staging, Buffer.alloc(3 * MIB, 'x'))
    const other = { deviceId: 'did_b', declaredSize: 4 * MIB }
    await assert.rejects(staging.admit({ ...other, declaredSize: 5 * MIB }), { code: 'NO_SPACE' })
    const held = await upload.seize()
    const many = Array.from({ length: 2 }, () => block)
    await assert.rejects(
      held.append(streamOf(...many), () => {}),
      { code: 'NO_SPACE' },
    )
    held.release()
    await assert.doesNotReject(staging.admit({ ...other, declaredSize: MIB }))
  })

  it('is not waited for when it was not enough: others get what they may have', async (t) => {
    const { staging } = await openTestStorage(t, { limits })
    const upload = await begin(staging, Buffer.alloc(3 * MIB, 'x'))
    await assert.rejects(append(upload, Buffer.alloc(2 * MIB, 'x')), { code: 'NO_SPACE' })
    assert.equal(upload.offset, 3 * MIB)
    const small = header('b', { deviceId: 'did_b', declaredSize: 2 * MIB })
    await stageUpload(staging, small, streamOf(block, block))
    assert.equal(staging.find('did_a', upload.token), undefined)
  })

  it('is given back when it is given up', async (t) => {
    const { staging } = await openTestStorage(t, { limits })
    for (let index = 0; index < 3; index++) {
      const upload = await begin(staging, Buffer.alloc(3 * MIB, 'x'))
      const held = await upload.seize()
      await held.discard()
      held.release()
    }
    const next = await begin(staging, Buffer.alloc(4 * MIB, 'x'))
    assert.equal(next.offset, 4 * MIB)
  })

  it('is given to a device that has less', async (t) => {
    const storage = await openTestStorage(t, { limits })
    const { staging } = storage
    const { token } = await begin(staging, Buffer.alloc(3 * MIB, 'x'))
    const small = header('b', { deviceId: 'did_b', declaredSize: 2 * MIB })
    await stageUpload(staging, small, streamOf(block, block))
    assert.equal(staging.find('did_a', token), undefined)
    assert.equal((await storage.blobFiles()).length, 1)
    assert.equal((await storage.stagingFiles()).length, 1)
  })

  it('is given to the next upload of the same device, when nobody sends any more', async (t) => {
    const storage = await openTestStorage(t, { limits })
    const { staging } = storage
    const { token } = await begin(staging, Buffer.alloc(3 * MIB, 'x'))
    await begin(staging, Buffer.alloc(2 * MIB, 'y'), { dataName: 'b' })
    assert.equal(staging.find('did_a', token), undefined)
    assert.equal((await storage.blobFiles()).length, 1)
  })

  it('is as much after a restart', async (t) => {
    const storage = await openTestStorage(t, { limits })
    await begin(storage.staging, Buffer.alloc(3 * MIB, 'x'))
    const { staging } = await storage.restart()
    const large = { deviceId: 'did_b', declaredSize: 4 * MIB }
    // Whoever has more than the sender would have gives way; nobody has.
    await assert.rejects(staging.admit(large), { code: 'NO_SPACE' })
    await assert.doesNotReject(staging.admit({ ...large, declaredSize: MIB }))
  })

  it(
    'may be missing on the disk: what has come stays, and goes on once there is some',
    needsMount,
    async (t) => {
      const folder = mountSmallDisk(t, 8)
      const storage = await openTestStorage(t, { folder })
      const { staging } = storage
      const upload = await begin(staging, 'hello ')
      const bytes = Buffer.alloc(16 * MIB, 'x')
      const held = await upload.seize()
      const chunks = Array.from({ length: 16 }, (_, index) =>
        bytes.subarray(index * MIB, (index + 1) * MIB),
      )
      await assert.rejects(
        held.append(streamOf(...chunks), () => {}),
        { code: 'NO_SPACE' },
      )
      held.release()
      const { offset } = upload
      assert.ok(offset >= 6 && offset < 8 * MIB, String(offset))
      assert.equal(await open(await pathOfBlob(storage)).then(sizeAndClose), offset)
      // Nothing fits: the upload is as it was.
      await assert.rejects(append(upload, bytes), { code: 'NO_SPACE' })
      assert.ok(upload.offset >= offset)
    },
  )
})

async function sizeAndClose(file: Awaited<ReturnType<typeof open>>): Promise<number> {
  const { size } = await file.stat()
  await file.close()
  return size
}
