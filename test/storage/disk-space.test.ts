import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DiskSpace } from '../../src/storage/disk-space.ts'
import { temporaryFolder } from '../support/daemon-process.ts'

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
