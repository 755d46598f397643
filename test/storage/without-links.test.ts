import assert from 'node:assert/strict'
import { mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { listWithoutLinks } from '../../src/storage/blobs/without-links.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A folder `own` that somebody copied, and a folder `other` that nobody did. */
async function makeFolders(t: TestContext) {
  const root = await temporaryFolder(t)
  for (const name of ['own', 'other']) {
    await mkdir(join(root, name, 'below'), { recursive: true })
    await writeFile(join(root, name, 'below', `${name}.txt`), name)
  }
  const swap = async (): Promise<void> => {
    await rename(join(root, 'own'), join(root, 'away'))
    await symlink('other', join(root, 'own'))
  }
  return { root, swap, below: Buffer.from(join(root, 'own', 'below')) }
}

const onLinux = { skip: process.platform === 'linux' ? false : 'skipped: needs /proc' } as const

describe('listWithoutLinks()', () => {
  it('lists no folder that a link leads to, wherever on the way it is', async (t) => {
    const { root, swap, below } = await makeFolders(t)
    await swap()
    let listed = 0
    const count = async (path: Buffer): Promise<readonly string[]> => {
      listed += 1
      return readdir(path)
    }
    assert.equal(await listWithoutLinks(below, count), undefined)
    await assert.rejects(listWithoutLinks(Buffer.from(join(root, 'own')), count))
    if (process.platform === 'linux') assert.equal(listed, 0)
  })

  it('goes on in the folder that it began with when a link takes its place', onLinux, async (t) => {
    const { swap, below } = await makeFolders(t)
    const names = await listWithoutLinks(below, async (path) => {
      await swap()
      return readdir(path)
    })
    assert.deepEqual(names, ['own.txt'])
  })
})
