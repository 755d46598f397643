import assert from 'node:assert/strict'
import { chmod, chown, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openDataDirectory, type DataDirectory } from '../../src/storage/home/data-directory.ts'
import { LOADER } from '../support/program.ts'
import { needs } from '../support/requirements.ts'
import { quoted } from '../support/quoted.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-folder.ts'
import { execute } from '../support/execute.ts'

const isRoot = process.geteuid?.() === 0
const asRoot = { skip: isRoot ? false : 'skipped: needs root' } as const
const NOBODY = 65_534

async function openFolder(t: TestContext, path: string): Promise<DataDirectory> {
  const directory = await openDataDirectory({ path })
  t.after(() => directory.close())
  return directory
}

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8)
}

/** Fails with a message that names `path`. */
async function refuses(path: string, reason: RegExp, named = path): Promise<void> {
  const message = new RegExp(`${quoted(named)}: .*${reason.source}`)
  await assert.rejects(openDataDirectory({ path }), { code: 'DATA_DIRECTORY_UNUSABLE', message })
}

describe('openDataDirectory()', () => {
  for (const umask of [0o000, 0o022, 0o777]) {
    it(`makes private folders under the umask ${umask.toString(8)}`, async (t) => {
      const path = join(await temporaryFolder(t), 'state', 'clipgate')
      const before = process.umask(umask)
      try {
        await openFolder(t, path)
      } finally {
        process.umask(before)
      }
      for (const folder of ['..', '.', 'blobs', 'staging']) {
        assert.equal(await modeOf(join(path, folder)), '700', folder)
      }
      assert.equal(await modeOf(join(path, 'lock')), '600')
    })
  }

  it('takes folders away from other users', async (t) => {
    const path = await temporaryFolder(t)
    await mkdir(join(path, 'blobs'))
    await chmod(join(path, 'blobs'), 0o755)
    await chmod(path, 0o775)
    await openFolder(t, path)
    assert.equal(await modeOf(path), '700')
    assert.equal(await modeOf(join(path, 'blobs')), '700')
  })

  it('can be reached through a link, and says where it really is', async (t) => {
    const folder = await temporaryFolder(t)
    await mkdir(join(folder, 'real'))
    await symlink('real', join(folder, 'link'))
    const { path } = await openFolder(t, join(folder, 'link'))
    assert.equal(path.endsWith('/real'), true)
  })

  it('is held by one at a time, and given back', async (t) => {
    const path = await temporaryFolder(t)
    const directory = await openFolder(t, path)
    await assert.rejects(openDataDirectory({ path }), { code: 'DATA_DIRECTORY_BUSY' })
    await directory.close()
    await openFolder(t, path)
  })

  it('removes what an earlier run left unfinished, and nothing else', async (t) => {
    const path = await temporaryFolder(t)
    const kept = ['devices.json', 'item.json.tmp', 'notes.txt', 'x.0123456789AB.tmp']
    for (const name of [...kept, 'item.json.0123456789ab.tmp', 'lock.0123456789ab.tmp']) {
      await writeFile(join(path, name), 'x')
    }
    await symlink('notes.txt', join(path, 'a.0123456789ab.tmp'))
    await mkdir(join(path, 'b.0123456789ab.tmp'))
    await openFolder(t, path)
    const own = ['a.0123456789ab.tmp', 'b.0123456789ab.tmp', 'blobs', 'lock', 'staging']
    assert.deepEqual(await readdir(path), [...kept, ...own].sort())
  })

  it('refuses files and links in its place, above it, or where its folders belong', async (t) => {
    const [path, other, elsewhere] = [
      await temporaryFolder(t),
      await temporaryFolder(t),
      await temporaryFile(t, 'file', 'precious'),
    ]
    await refuses(elsewhere, /not a folder/)
    await refuses(join(elsewhere, 'below'), /not a folder/)
    assert.equal(await readFile(elsewhere, 'utf8'), 'precious')

    await symlink(dirname(elsewhere), join(path, 'blobs'))
    await refuses(path, /link/, join(path, 'blobs'))
    // The lock was given back.
    assert.deepEqual(await readdir(path), ['blobs'])
    assert.deepEqual(await readdir(dirname(elsewhere)), ['file'])
    await writeFile(join(other, 'staging'), 'x')
    await refuses(other, /not a folder/, join(other, 'staging'))
  })

  it('refuses a folder that everybody shares, and leaves its mode alone', async (t) => {
    const path = await temporaryFolder(t)
    await chmod(path, 0o1777)
    await refuses(path, /shared/)
    assert.equal((await stat(path)).mode & 0o7777, 0o1777)
  })

  it('refuses a folder of another user', asRoot, async (t) => {
    const path = await temporaryFolder(t)
    await chown(path, NOBODY, NOBODY)
    await refuses(path, /belongs to another user/)
    const other = await temporaryFolder(t)
    await mkdir(join(other, 'blobs'))
    await chown(join(other, 'blobs'), NOBODY, NOBODY)
    await refuses(other, /belongs to another user/, join(other, 'blobs'))
  })

  const asNobody = isRoot ? needs('setpriv') : asRoot
  it('refuses a folder that it may not write to', asNobody, async (t) => {
    const path = await temporaryFolder(t)
    await chown(path, NOBODY, NOBODY)
    await chmod(path, 0o500)
    const program = fileURLToPath(new URL('./support/open-directory.ts', import.meta.url))
    const user = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups']
    const command = [process.execPath, ...LOADER, program, path]
    const { stdout } = await execute('setpriv', [...user, ...command])
    assert.match(stdout, /^DATA_DIRECTORY_UNUSABLE Cannot use .*: this user may not use it; /)
    assert.equal(stdout.includes(path), true)
    assert.deepEqual(await readdir(path), [])
  })
})
