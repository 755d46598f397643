import assert from 'node:assert/strict'
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { exactTarget, likeItem, saveFile } from '../../src/cli/save-file.ts'
import { verifyDownload } from '../../src/cli/pull.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { sha256 } from '../support/hashes.ts'

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

const accept = (): void => undefined

describe('saveFile()', () => {
  it('saves bytes under the name of the item, and next to what is there already', async (t) => {
    const path = await temporaryFolder(t)
    await writeFile(join(path, 'a.txt'), 'mine')
    assert.equal(
      await saveFile(chunks('one', 'two'), likeItem(path, 'a.txt'), accept),
      join(path, 'a (2).txt'),
    )
    assert.equal(
      await saveFile(chunks('three'), likeItem(path, 'a.txt'), accept),
      join(path, 'a (3).txt'),
    )
    assert.deepEqual((await readdir(path)).sort(), ['a (2).txt', 'a (3).txt', 'a.txt'])
    assert.equal(await readFile(join(path, 'a (2).txt'), 'utf8'), 'onetwo')
    assert.equal(await readFile(join(path, 'a.txt'), 'utf8'), 'mine')
  })

  it('does not let the sender choose a hidden or a foreign place', async (t) => {
    const path = await temporaryFolder(t)
    for (const name of ['../../evil', '.bashrc', '..', 'a/b', 'x\u202egpj.exe', '\u001b[2J']) {
      const saved = await saveFile(chunks('x'), likeItem(path, name), accept)
      assert.ok(saved.startsWith(`${path}/`))
      const own = saved.slice(path.length + 1)
      assert.doesNotMatch(own, /^\.|[/\u0000-\u001f\u202e]/)
    }
    assert.equal((await readdir(path)).length, 6)
  })

  it('refuses a name that was asked for when it is taken, also by a link to nowhere', async (t) => {
    const path = await temporaryFolder(t)
    await writeFile(join(path, 'taken'), 'mine')
    await symlink('/nonexistent', join(path, 'link'))
    for (const name of ['taken', 'link']) {
      await assert.rejects(saveFile(chunks('x'), exactTarget(path, name), accept), {
        name: 'CommandError',
        message: /exists already/,
      })
    }
    assert.deepEqual((await readdir(path)).sort(), ['link', 'taken'])
    assert.equal(
      await saveFile(chunks('x'), exactTarget(path, 'sub/../free'), accept),
      join(path, 'free'),
    )
  })

  it('leaves nothing when the bytes end early or are not the right ones', async (t) => {
    const path = await temporaryFolder(t)
    async function* broken() {
      yield Buffer.from('x')
      throw new Error('connection lost')
    }
    await assert.rejects(saveFile(broken(), likeItem(path, 'a'), accept), /connection lost/)
    const refuse = (): void => {
      throw new Error('wrong hash')
    }
    await assert.rejects(saveFile(chunks('x'), likeItem(path, 'a'), refuse), /wrong hash/)
    assert.deepEqual(await readdir(path), [])
  })

  it('names the folder when it cannot be written', async (t) => {
    const path = await temporaryFolder(t)
    await assert.rejects(saveFile(chunks('x'), likeItem(join(path, 'none'), 'a'), accept), {
      name: 'CommandError',
      message: /none": ENOENT$/,
    })
    await writeFile(join(path, 'file'), '')
    await assert.rejects(
      saveFile(chunks('x'), likeItem(join(path, 'file'), 'a'), accept),
      /ENOTDIR/,
    )
  })

  it('tells the hash of what it wrote', async (t) => {
    let told = ''
    await saveFile(chunks('hel', 'lo'), likeItem(await temporaryFolder(t), 'a'), (sha256) => {
      told = sha256
    })
    assert.equal(told, sha256('hello'))
  })
})

describe('verifyDownload()', () => {
  const helloHash = sha256('hello')

  it('takes the hash of the bytes and the name-bound one, in any case', () => {
    const bound = sha256(`a.bin|${helloHash.toUpperCase()}`)
    for (const hash of [helloHash, helloHash.toUpperCase(), bound, bound.toUpperCase(), '']) {
      verifyDownload({ hash, dataName: 'a.bin' }, helloHash)
    }
  })

  it('refuses any other', () => {
    const other = sha256('other')
    for (const dataName of ['a.bin', 'b.bin']) {
      assert.throws(() => verifyDownload({ hash: other, dataName }, helloHash), {
        name: 'CommandError',
      })
    }
  })
})
