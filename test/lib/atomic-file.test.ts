import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { writeFileAtomically } from '../../src/lib/atomic-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('writeFileAtomically()', () => {
  it('creates and replaces a private file, and leaves nothing else', async (t) => {
    const folder = await temporaryFolder(t)
    const path = join(folder, 'a.json')
    for (const content of ['first', 'second', '']) {
      await writeFileAtomically(path, content)
      assert.equal(await readFile(path, 'utf8'), content)
    }
    await writeFileAtomically(path, new Uint8Array([0, 255]))
    assert.deepEqual([...(await readFile(path))], [0, 255])
    await writeFileAtomically(path, [Buffer.from('in '), Buffer.from(''), Buffer.from('pieces')])
    assert.equal(await readFile(path, 'utf8'), 'in pieces')
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.deepEqual(await readdir(folder), ['a.json'])
  })

  it('replaces a symbolic link, and not what it points to', async (t) => {
    const folder = await temporaryFolder(t)
    const [path, target] = [join(folder, 'a.json'), join(folder, 'target')]
    await writeFile(target, 'precious')
    await symlink(target, path)
    await writeFileAtomically(path, 'new')
    assert.equal(await readFile(target, 'utf8'), 'precious')
    assert.equal(await readFile(path, 'utf8'), 'new')
  })

  it('leaves whole content behind whoever comes last', async (t) => {
    const path = join(await temporaryFolder(t), 'a.json')
    const contents = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(100_000))
    await Promise.all(contents.map((content) => writeFileAtomically(path, content)))
    assert.equal(contents.includes(await readFile(path, 'utf8')), true)
  })

  it('fails with the error of the system, and cleans up', async (t) => {
    const folder = await temporaryFolder(t)
    await assert.rejects(writeFileAtomically(join(folder, 'no', 'a.json'), ''), { code: 'ENOENT' })
    await mkdir(join(folder, 'taken', 'inside'), { recursive: true })
    // Systems do not agree about the code.
    await assert.rejects(writeFileAtomically(join(folder, 'taken'), ''), { syscall: 'rename' })
    assert.deepEqual(await readdir(folder), ['taken'])
  })
})
