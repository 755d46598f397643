import assert from 'node:assert/strict'
import { chmod, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { DiskPrivateFile } from '../../src/storage/home/own-files.ts'
import { MemoryPrivateFile } from '../support/memory-private-file.ts'
import { quoted } from '../support/quoted.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import type { PrivateFile } from '../../src/ports/private-file.ts'

/** @param open The same file each time in one test; there is none at first. */
function describePrivateFile(
  name: string,
  open: (t: TestContext) => Promise<() => PrivateFile>,
): void {
  describe(name, () => {
    it('is not there at first, and can be removed all the same', async (t) => {
      const file = (await open(t))()
      await file.remove()
      assert.equal(await file.read(), undefined)
    })

    it('is read as it was written last, also by the next program', async (t) => {
      const openAgain = await open(t)
      for (const text of ['first', '', 'ünïcode 👋\n'.repeat(1000)]) {
        await openAgain().write(text)
        assert.equal(await openAgain().read(), text)
      }
    })

    it('is gone once it was removed, and can come back', async (t) => {
      const openAgain = await open(t)
      await openAgain().write('text')
      await openAgain().remove()
      assert.equal(await openAgain().read(), undefined)
      await openAgain().write('again')
      assert.equal(await openAgain().read(), 'again')
    })
  })
}

describePrivateFile('MemoryPrivateFile', async () => {
  const file = new MemoryPrivateFile()
  return () => file
})

describePrivateFile('DiskPrivateFile', async (t) => {
  const path = join(await temporaryFolder(t), 'file')
  return () => new DiskPrivateFile(path)
})

describe('DiskPrivateFile', () => {
  it('is for its owner alone, and leaves nothing beside it', async (t) => {
    const folder = await temporaryFolder(t)
    const path = join(folder, 'file')
    const file = new DiskPrivateFile(path)
    await file.write('text')
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    await chmod(path, 0o644)
    await file.read()
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.deepEqual(await readdir(folder), ['file'])
  })

  it('follows no link', async (t) => {
    const folder = await temporaryFolder(t)
    await writeFile(join(folder, 'other'), 'of somebody else')
    await symlink(join(folder, 'other'), join(folder, 'file'))
    const file = new DiskPrivateFile(join(folder, 'file'))
    await assert.rejects(file.read(), { code: 'DATA_DIRECTORY_UNUSABLE' })
    await file.write('ours')
    assert.equal(await file.read(), 'ours')
    assert.equal(await readFile(join(folder, 'other'), 'utf8'), 'of somebody else')
  })

  it('says which path cannot be used', async (t) => {
    const path = join(await temporaryFolder(t), 'file')
    await mkdir(path)
    const file = new DiskPrivateFile(path)
    for (const use of [() => file.read(), () => file.write('x'), () => file.remove()]) {
      await assert.rejects(use(), {
        code: 'DATA_DIRECTORY_UNUSABLE',
        message: new RegExp(quoted(path)),
      })
    }
    const nowhere = new DiskPrivateFile(join(path, 'none', 'file'))
    const missing = { code: 'DATA_DIRECTORY_UNUSABLE', message: /is not there; choose another/ }
    await assert.rejects(nowhere.write('x'), missing)
  })

  it('that is no text is a TypeError', async (t) => {
    const path = join(await temporaryFolder(t), 'file')
    await writeFile(path, Buffer.from([0xff, 0xfe]))
    await assert.rejects(new DiskPrivateFile(path).read(), TypeError)
  })
})
