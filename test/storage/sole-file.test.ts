import assert from 'node:assert/strict'
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { askWhetherHeld, openAlone, type SoleFileSystem } from '../../src/storage/home/lock.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface Row {
  readonly platform: NodeJS.Platform
  readonly hold: number
  readonly look: number
  readonly heldCode: string
}

const ROWS: readonly Row[] = [
  { platform: 'win32', hold: 0x1000_0000, look: 0, heldCode: 'EBUSY' },
  {
    platform: 'darwin',
    hold: 0x20 | constants.O_NONBLOCK,
    look: 0x10 | constants.O_NONBLOCK,
    heldCode: 'EAGAIN',
  },
]

/** A system that answers the first attempts with `codes`, and then opens. */
function fakeSystem(t: TestContext, platform: NodeJS.Platform, codes: readonly string[]) {
  const flags: number[] = []
  const waits: number[] = []
  const system: SoleFileSystem = {
    platform,
    open: async (path, asked): Promise<FileHandle> => {
      flags.push(asked)
      const code = codes[flags.length - 1]
      if (code !== undefined) throw Object.assign(new Error(code), { code })
      const file = await open(path, 'w')
      t.after(() => file.close())
      return file
    },
    wait: async (ms) => void waits.push(ms),
  }
  return { system, flags, waits }
}

describe('a file for one program alone', () => {
  for (const { platform, hold, look, heldCode } of ROWS) {
    it(`is opened on ${platform} by its flag, and waited for as long as somebody looks`, async (t) => {
      const path = join(await temporaryFolder(t), 'held')
      const { system, flags } = fakeSystem(t, platform, [heldCode, heldCode])
      assert.equal(typeof (await openAlone(path, system)), 'object')
      const wanted = constants.O_RDWR | constants.O_CREAT | hold
      assert.deepEqual(flags, [wanted, wanted, wanted])
    })

    it(`is held on ${platform} after half a second`, async (t) => {
      const { system, waits } = fakeSystem(t, platform, Array(20).fill(heldCode))
      assert.equal(await openAlone('held', system), 'held')
      assert.equal(
        waits.reduce((sum, ms) => sum + ms),
        500,
      )
    })

    it(`is looked at on ${platform} without taking it`, async (t) => {
      const path = join(await temporaryFolder(t), 'held')
      const { system, flags } = fakeSystem(t, platform, [heldCode, 'ENOENT', 'ENOTSUP'])
      const answers = []
      for (let turn = 0; turn < 4; turn += 1) answers.push(await askWhetherHeld(path, system))
      assert.deepEqual(answers, ['held', 'unknown', 'unknown', 'free'])
      assert.deepEqual([...new Set(flags)], [constants.O_RDONLY | look])
    })

    it(`fails on ${platform} for the reason that the system gives`, async (t) => {
      const { system } = fakeSystem(t, platform, ['EACCES', 'EACCES'])
      await assert.rejects(openAlone('held', system), { code: 'EACCES' })
      await assert.rejects(askWhetherHeld('held', system), { code: 'EACCES' })
    })
  }

  it('is not to be had elsewhere, nor in some network folders', async (t) => {
    const linux = fakeSystem(t, 'linux', [])
    assert.equal(await openAlone('held', linux.system), 'unknown')
    assert.equal(await askWhetherHeld('held', linux.system), 'unknown')
    assert.deepEqual(linux.flags, [])
    assert.equal(await openAlone('held', fakeSystem(t, 'darwin', ['ENOTSUP']).system), 'unknown')
  })
})
