import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import {
  FileHeldError,
  renameOver,
  type RenamingSystem,
  writeFileAtomically,
} from '../../src/lib/atomic-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { toDomainError } from '../../src/storage/home/disk-errors.ts'
import { toUnusable } from '../../src/storage/home/own-files.ts'

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

function failure(code: string): Error {
  return Object.assign(new Error(code), { code, syscall: 'rename' })
}

/** A system on which the first renames fail, and where time passes only by waiting. */
class FakeSystem implements RenamingSystem {
  readonly platform: NodeJS.Platform
  elapsedMs = 0
  calls = 0
  readonly #fail: (elapsedMs: number) => string | undefined

  constructor(platform: NodeJS.Platform, fail: (elapsedMs: number) => string | undefined) {
    this.platform = platform
    this.#fail = fail
  }

  readonly rename = async (): Promise<void> => {
    this.calls += 1
    const code = this.#fail(this.elapsedMs)
    if (code !== undefined) throw failure(code)
  }

  readonly wait = async (ms: number): Promise<void> => {
    this.elapsedMs += ms
  }
}

describe('renaming onto a file that another program has open', () => {
  for (const code of ['EPERM', 'EACCES', 'EBUSY']) {
    it(`is tried again on Windows after ${code}, until the program has closed it`, async () => {
      const system = new FakeSystem('win32', (ms) => (ms < 1999 ? code : undefined))
      await renameOver('a', 'b', system)
      assert.equal(system.elapsedMs, 2000)
    })

    it(`fails on Windows after two seconds of ${code}, and says why`, async () => {
      const system = new FakeSystem('win32', () => code)
      await assert.rejects(renameOver('a', 'b', system), FileHeldError)
      assert.equal(system.elapsedMs, 2000)
      assert.ok(system.calls <= 12)
    })

    it(`fails at once elsewhere, where ${code} is about rights`, async () => {
      const system = new FakeSystem('linux', () => code)
      await assert.rejects(renameOver('a', 'b', system), { code, message: code })
      assert.equal(system.elapsedMs, 0)
    })
  }

  it('fails at once for any other reason, also after it was open', async () => {
    const system = new FakeSystem('win32', (ms) => (ms === 0 ? 'EPERM' : 'ENOENT'))
    await assert.rejects(renameOver('a', 'b', system), { code: 'ENOENT' })
    assert.equal(system.calls, 2)
  })

  it('is no lack of room, and names the remedy', () => {
    const error = new FileHeldError(failure('EPERM'))
    assert.equal(toDomainError(error, 'Cannot keep the item'), error)
    assert.match(toUnusable('x', error).message, /^Cannot use x: another program has it open; /)
  })
})
