import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createReserveRoom, DiskSpace } from '../../src/storage/home/disk-space.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { mountSmallDisk, needsMount } from './support/small-disk.ts'
import { MIB } from '../../src/core/limits.ts'

const MIN_FREE: number = 4 * MIB

/** No disk leaves as much. */
const EVERYTHING = 2 ** 60

describe('DiskSpace', () => {
  it('tells once that an upload found no room', async (t) => {
    const told: boolean[] = []
    const folder = await temporaryFolder(t)
    const space = new DiskSpace(folder, EVERYTHING, (isFull) => void told.push(isFull))
    for (const bytes of [100, 0, 5000]) {
      await assert.rejects(space.check(bytes), { code: 'NO_SPACE' })
    }
    assert.deepEqual(told, [true])
  })

  it('tells that there is room when what was refused would fit, and not before', async (t) => {
    const told: boolean[] = []
    const space = new DiskSpace(await temporaryFolder(t), 0, (isFull) => void told.push(isFull))
    space.hadRoom(5)
    assert.deepEqual(told, [])
    space.ranOut(1000)
    space.ranOut(800)
    space.hadRoom(799)
    assert.deepEqual(told, [true])
    space.hadRoom(800)
    space.hadRoom(800)
    assert.deepEqual(told, [true, false])
  })
})

describe('room for a file outside of the data directory', needsMount, () => {
  it('is shared with uploads on the same disk, and is that of its own disk elsewhere', async (t) => {
    const own = mountSmallDisk(t, 16)
    const elsewhere = mountSmallDisk(t, 8)
    const [blobs, received] = [join(own, 'blobs'), join(own, 'received')]
    await mkdir(blobs)
    await mkdir(received)
    const space = new DiskSpace(blobs, MIN_FREE)
    const reserve = createReserveRoom(blobs, space, (folder) => new DiskSpace(folder, MIN_FREE))

    const upload = await reserve(8 * MIB, blobs)
    await assert.rejects(reserve(5 * MIB, received), { code: 'NO_SPACE' })
    const copy = await reserve(3 * MIB, received)
    await assert.rejects(reserve(2 * MIB, blobs), { code: 'NO_SPACE' })
    copy.release()
    upload.release()

    const first = await reserve(3 * MIB, elsewhere)
    await assert.rejects(reserve(2 * MIB, elsewhere), { code: 'NO_SPACE' })
    first.release()
    await reserve(2 * MIB, elsewhere)
    await reserve(10 * MIB, blobs)
  })

  it('is made by what may be given up, and by nothing where that is not enough', async (t) => {
    const folder = mountSmallDisk(t, 16)
    const [older, newer] = [join(folder, 'older'), join(folder, 'newer')]
    for (const path of [older, newer]) await writeFile(path, Buffer.alloc(3 * MIB))
    const left = [older, newer]
    const space = new DiskSpace(folder, MIN_FREE)
    space.yieldFirst({
      get bytes() {
        return left.length * 3 * MIB
      },
      giveUp: async () => {
        const path = left.shift()
        if (path !== undefined) await rm(path)
        return path !== undefined
      },
    })
    const upload = space.allowance()
    await assert.rejects(upload.grow(13 * MIB), { code: 'NO_SPACE' })
    await space.check(11 * MIB)
    assert.deepEqual(left, [older, newer])
    await Promise.all([upload.grow(7 * MIB), space.allowance().grow(MIB)])
    assert.deepEqual(left, [newer])
  })
})
