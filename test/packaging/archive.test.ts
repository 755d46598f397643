import assert from 'node:assert/strict'
import { lstat, readFile, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { compress, formatAr, formatTar } from '../../build/archive.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { execute } from '../support/execute.ts'

const bytes = (length: number) => Buffer.alloc(length, 'x')

describe('formatTar()', needs('tar'), () => {
  it('makes what tar unpacks, whatever the sizes and the lengths of paths', async (t) => {
    const folder = await temporaryFolder(t)
    const paths = [`${'a'.repeat(99)}`, `${'long/'.repeat(28)}file`, `${'b'.repeat(150)}/c`]
    const files = [0, 1, 511, 512, 513, 70_000].map((size) => ({
      path: `sizes/${size}`,
      content: bytes(size),
    }))
    const long = paths.map((path) => ({ path, content: bytes(3), isProgram: true }))
    const link = { path: 'links/to', target: '../sizes/1' }
    const archive = join(folder, 'archive.tar.gz')
    await writeFile(archive, compress(formatTar([...files, ...long, link], 'root/')))
    await execute('tar', ['-xzf', archive], { cwd: folder })
    for (const { path, content } of [...files, ...long]) {
      assert.ok((await readFile(join(folder, 'root', path))).equals(content), path)
    }
    assert.equal(await readlink(join(folder, 'root/links/to')), '../sizes/1')
    const modes = ['sizes/1', paths[0] ?? ''].map((path) => lstat(join(folder, 'root', path)))
    assert.deepEqual(
      (await Promise.all(modes)).map(({ mode }) => (mode & 0o111) !== 0),
      [false, true],
    )
  })

  it('does not depend on the order of what is packed', () => {
    const files = ['b/2', 'a', 'b/1'].map((path) => ({ path, content: Buffer.from(path) }))
    assert.ok(formatTar(files, './').equals(formatTar(files.toReversed(), './')))
  })

  it('refuses paths that the format has no room for', () => {
    const path = 'c'.repeat(101)
    assert.throws(() => formatTar([{ path, content: bytes(0) }], './'), RangeError)
  })
})

describe('formatAr()', needs('ar'), () => {
  it('makes what ar unpacks, also behind members of odd length', async (t) => {
    const archive = join(await temporaryFolder(t), 'archive.a')
    await writeFile(
      archive,
      formatAr([
        ['odd', bytes(3)],
        ['even', bytes(4)],
      ]),
    )
    for (const [name, size] of [
      ['odd', 3],
      ['even', 4],
    ] as const) {
      assert.equal((await execute('ar', ['p', archive, name])).stdout, 'x'.repeat(size))
    }
  })
})
