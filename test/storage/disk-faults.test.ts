import assert from 'node:assert/strict'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { openDataDirectory } from '../../src/storage/home/data-directory.ts'
import { readText, streamOf } from '../support/byte-streams.ts'
import { defer } from '../support/defer.ts'
import { textItem } from '../support/latest-item-contract.ts'
import { header, stageUpload } from '../support/staging-contract.ts'
import { bytesOf, openTestStorage, putFile, type OpenedStorage } from './support/open-stores.ts'
import { mountSmallDisk, needsMount, setReadOnly } from './support/small-disk.ts'
import { MIB } from '../../src/core/limits.ts'

const LIMIT = { maxBytes: 64 * MIB }

function mebibytes(count: number): AsyncIterable<Uint8Array> {
  const chunk = Buffer.alloc(65_536)
  return streamOf(...Array.from({ length: count * 16 }, () => chunk))
}

/** Fills a disk to its last byte, and returns what to remove. */
async function fill(disk: string): Promise<string> {
  const path = join(disk, 'filler')
  await assert.rejects(writeFile(path, Buffer.alloc(64 * MIB)), { code: 'ENOSPC' })
  return path
}

describe('a full disk', needsMount, () => {
  async function openSmall(t: TestContext, minFreeBytes = 0): Promise<OpenedStorage> {
    const folder = mountSmallDisk(t, 16)
    return openTestStorage(t, { folder, limits: { minFreeBytes } })
  }

  it('refuses an upload, keeps nothing of it, and takes the next one that fits', async (t) => {
    const storage = await openSmall(t)
    await stageUpload(storage.staging, header('a.txt'), streamOf('hello'))
    const refused = stageUpload(storage.staging, header('a.txt'), mebibytes(20))
    await assert.rejects(refused, { code: 'NO_SPACE' })
    assert.equal((await storage.blobFiles()).length, 1)
    assert.equal((await storage.stagingFiles()).length, 1)
    await stageUpload(storage.staging, header('b.txt'), mebibytes(10))
    const taken = storage.staging.take('did_a', 'a.txt')
    assert.equal(taken && (await readText(taken.blob)), 'hello')
  })

  it('leaves the item as it was, and takes a new one when there is room again', async (t) => {
    const storage = await openSmall(t)
    await putFile(storage, 'hello')
    const filler = await fill(storage.folder)
    const text = await textItem('x'.repeat(100_000))
    await assert.rejects(storage.latest.put(text, undefined), { code: 'NO_SPACE' })
    await assert.rejects(storage.blobs.receive(streamOf('world'), LIMIT), { code: 'NO_SPACE' })
    assert.equal(storage.latest.current?.item.dataName, 'a.txt')
    const names = await readdir(storage.folder)
    assert.deepEqual(names, ['blobs', 'filler', 'item.json', 'lock', 'staging'])
    await rm(filler)
    await storage.latest.put(text, undefined)
    const again = await storage.restart()
    assert.equal(again.latest.current?.item.type, 'Text')
    assert.equal(String(await bytesOf(again)), 'hello')
  })

  it('has room for others while an upload that was announced does not come', async (t) => {
    const storage = await openSmall(t, 4 * MIB)
    const { staging } = storage
    const { promise, resolve } = defer<void>()
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(100)
      await promise
      yield* mebibytes(8)
    }
    const declaredSize = 8 * MIB + 100
    const underWay = stageUpload(staging, header('a.txt', { declaredSize }), slow())
    const other = { deviceId: 'did_b', declaredSize: 6 * MIB }
    await staging.admit(other)
    await stageUpload(staging, header('b.txt', other), mebibytes(6))
    resolve()
    await assert.rejects(underWay, { code: 'NO_SPACE' })
    assert.equal((await storage.blobFiles()).length, 1)
    const tooLarge = { deviceId: 'did_c', declaredSize: 12 * MIB }
    await assert.rejects(staging.admit(tooLarge), { code: 'NO_SPACE' })
    await staging.admit({ deviceId: 'did_c', declaredSize: 5 * MIB })
  })

  it('costs no other device an upload that is complete', async (t) => {
    const storage = await openSmall(t, 4 * MIB)
    const { staging } = storage
    await stageUpload(staging, header('a.txt', { deviceId: 'did_b' }), mebibytes(3))
    await stageUpload(staging, header('b.txt', { deviceId: 'did_b' }), mebibytes(3))
    const wanted = { deviceId: 'did_c', declaredSize: undefined }
    // What has become the item takes room on the disk, and nothing of the quota.
    await writeFile(join(storage.folder, 'filler'), Buffer.alloc(5 * MIB))
    await assert.rejects(staging.admit({ ...wanted, declaredSize: 4 * MIB }), { code: 'NO_SPACE' })
    const refused = stageUpload(staging, header('c.txt', wanted), mebibytes(4))
    await assert.rejects(refused, { code: 'NO_SPACE' })
    assert.deepEqual(staging.stats(), { uploads: 2, bytes: 6 * MIB })
    // Own ones may go.
    await stageUpload(staging, header('c.txt', { deviceId: 'did_b' }), mebibytes(4))
    assert.equal(staging.take('did_b', 'a.txt'), undefined)
  })

  it('is never filled by uploads that come at once, and has room for one of them', async (t) => {
    const storage = await openSmall(t, 4 * MIB)
    let least = Infinity
    async function* watched(): AsyncGenerator<Uint8Array> {
      for await (const chunk of mebibytes(8)) {
        yield chunk
        least = Math.min(least, await storage.freeBytes())
      }
    }
    const ends = await Promise.allSettled(
      ['did_a', 'did_b', 'did_c', 'did_d'].map((deviceId, index) => {
        const declaredSize = index % 2 === 0 ? 8 * MIB : undefined
        return stageUpload(storage.staging, header('a.txt', { deviceId, declaredSize }), watched())
      }),
    )
    const refused = ends.filter((end) => end.status === 'rejected')
    assert.equal(refused.map(({ reason }) => reason.code).join(), 'NO_SPACE,NO_SPACE,NO_SPACE')
    t.diagnostic(`${least} bytes were free at least`)
    // The blocks in which a file system keeps its own books.
    assert.ok(least >= 4 * MIB - 64 * 1024, `${least} bytes were free`)
    assert.equal((await storage.blobFiles()).length, 1)
  })

  it('prevents the start, with a message that says so', async (t) => {
    const path = mountSmallDisk(t, 1)
    await fill(path)
    const refusal = { code: 'DATA_DIRECTORY_UNUSABLE', message: /the disk is full/ }
    await assert.rejects(openDataDirectory({ path }), refusal)
    assert.deepEqual(await readdir(path), ['filler'])
  })
})

describe('a read-only disk', needsMount, () => {
  it('prevents the start, with a message that says so', async (t) => {
    const path = mountSmallDisk(t, 1)
    setReadOnly(path, 'ro')
    const refusal = { code: 'DATA_DIRECTORY_UNUSABLE', message: /read-only/ }
    await assert.rejects(openDataDirectory({ path }), refusal)
  })

  it('still serves the item, and takes no other', async (t) => {
    const storage = await openTestStorage(t, { folder: mountSmallDisk(t, 4) })
    await putFile(storage, 'hello')
    setReadOnly(storage.folder, 'ro')
    await assert.rejects(storage.blobs.receive(streamOf('world'), LIMIT), { code: 'NO_SPACE' })
    await assert.rejects(storage.latest.put(await textItem('x'), undefined), { code: 'NO_SPACE' })
    assert.equal(storage.latest.current, storage.latest.binary)
    assert.equal(String(await bytesOf(storage)), 'hello')
    assert.equal(await storage.diskTrouble(), 'the disk is read-only')
    setReadOnly(storage.folder, 'rw')
    await storage.latest.put(await textItem('x'), undefined)
  })
})
