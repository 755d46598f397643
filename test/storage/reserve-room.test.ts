import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { DiskSpace } from '../../src/storage/disk-space.ts'
import { createReserveRoom } from '../../src/storage/reserve-room.ts'
import { mountSmallDisk, needsMount } from './support/small-disk.ts'

const MIB = 2 ** 20
const MIN_FREE: number = 4 * MIB

describe('room for a file outside of the data directory', needsMount, () => {
  it('is shared with uploads on the same disk, and is that of its own disk elsewhere', async (t) => {
    const own = mountSmallDisk(t, 16)
    const elsewhere = mountSmallDisk(t, 8)
    const [blobs, received] = [join(own, 'blobs'), join(own, 'received')]
    await mkdir(blobs)
    await mkdir(received)
    const space = new DiskSpace(blobs, MIN_FREE)
    const reserve = createReserveRoom(blobs, space, (folder) => new DiskSpace(folder, MIN_FREE))

    const upload = await space.allow(8 * MIB)
    await assert.rejects(reserve(5 * MIB, received), { code: 'NO_SPACE' })
    const copy = await reserve(3 * MIB, received)
    await assert.rejects(space.allow(2 * MIB), { code: 'NO_SPACE' })
    copy.release()
    upload.release()

    const first = await reserve(3 * MIB, elsewhere)
    await assert.rejects(reserve(2 * MIB, elsewhere), { code: 'NO_SPACE' })
    first.release()
    await reserve(2 * MIB, elsewhere)
    await space.allow(10 * MIB)
  })
})
