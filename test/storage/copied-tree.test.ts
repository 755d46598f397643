import assert from 'node:assert/strict'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { MAX_GROUP_DEPTH, MAX_GROUP_ENTRIES, MAX_GROUP_NAME_BYTES } from '../../src/core/limits.ts'
import { walkCopied } from '../../src/storage/blobs/copied-tree.ts'
import { zipOnce } from '../../src/storage/blobs/adopt-group.ts'
import { makeTree } from '../support/make-tree.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const NEVER = new AbortController().signal
const OPTIONS = { maxBytes: 1000, signal: NEVER }

/** Refused because of a limit, without a name of anything. */
function pastLimit(limit: RegExp): { readonly code: string; readonly message: RegExp } {
  const message = new RegExp(`^(?!.*(?:clipgate-|secret)).*${limit.source}`)
  return { code: 'GROUP_TOO_LARGE', message }
}

describe('what was copied', () => {
  it('may have as many bytes as a file, and no more', async (t) => {
    const folder = await makeTree(t, { 'secret/a': 'x'.repeat(600), 'secret/b': 'x'.repeat(400) })
    assert.equal((await walkCopied([folder], OPTIONS)).files.length, 2)
    await writeFile(join(folder, 'c'), 'x')
    await assert.rejects(walkCopied([folder], OPTIONS), pastLimit(/1000 bytes/))
  })

  it('may be so many files and folders, and no more', async (t) => {
    const folder = await temporaryFolder(t)
    const fill = async (name: string, count: number): Promise<void> => {
      await mkdir(join(folder, name))
      for (let i = 0; i < count; i++) await writeFile(join(folder, name, `secret${i}`), '')
    }
    // With the two folders and the one around them.
    await fill('a', 1000)
    await fill('b', MAX_GROUP_ENTRIES - 1000 - 3)
    assert.equal((await walkCopied([folder], OPTIONS)).files.length, MAX_GROUP_ENTRIES - 3)
    await writeFile(join(folder, 'one more'), '')
    await assert.rejects(walkCopied([folder], OPTIONS), pastLimit(/10000 files and folders/))
  })

  it('may be folders in so many folders, and no more', async (t) => {
    const folder = await temporaryFolder(t)
    const path = join(folder, ...Array.from({ length: MAX_GROUP_DEPTH - 1 }, () => 's'))
    await mkdir(path, { recursive: true })
    assert.equal((await walkCopied([folder], OPTIONS)).folders.length, MAX_GROUP_DEPTH)
    await writeFile(join(path, 'secret'), '')
    await assert.rejects(walkCopied([folder], OPTIONS), pastLimit(/64 folders/))
  })

  it('may have names of so many bytes, and no more', async (t) => {
    const folder = join(await temporaryFolder(t), 'r')
    const path = join(folder, ...Array.from({ length: 5 }, () => 'é'.repeat(100)))
    await mkdir(path, { recursive: true })
    const rest = MAX_GROUP_NAME_BYTES - 'r'.length - 5 * 201 - '/'.length
    await writeFile(join(path, 'x'.repeat(rest)), '')
    assert.equal((await walkCopied([folder], OPTIONS)).files.length, 1)
    await writeFile(join(path, 'x'.repeat(rest + 1)), '')
    await assert.rejects(walkCopied([folder], OPTIONS), pastLimit(/1024 bytes/))
  })

  it('is not what a link leads to that took the place of a folder meanwhile', async (t) => {
    const files = { 'g/a/b/file': 'mine', 'g/z': 'kept', 'else/b/file': 'secret' }
    const folder = await makeTree(t, files)
    const tree = await walkCopied([join(folder, 'g')], OPTIONS)
    assert.equal(tree.files.length, 2)
    await rename(join(folder, 'g/a'), join(folder, 'away'))
    await symlink(join(folder, 'else'), join(folder, 'g/a'))
    const { archive, unreadable } = await zipOnce(tree, OPTIONS)
    assert.deepEqual([archive?.files.length, unreadable], [1, 1])
    await rm(join(folder, 'g/a'))
    const again = await walkCopied([join(folder, 'g')], OPTIONS)
    assert.equal(again.files.map(({ name }) => name).join(), 'g/z')
  })

  it('may be reached through links, which are not asked again', async (t) => {
    const folder = await makeTree(t, { 'real/g/a': 'mine' })
    await symlink('real', join(folder, 'link'))
    const { files } = await walkCopied([join(folder, 'link/g')], OPTIONS)
    assert.equal(files.map(({ path }) => path).join(), join(folder, 'real/g/a'))
  })

  it('is looked through no further when nobody wants it any more', async (t) => {
    const folder = await makeTree(t, { a: '1' })
    const controller = new AbortController()
    const walk = walkCopied([folder], { maxBytes: 10, signal: controller.signal })
    const reason = new Error('something else was copied')
    controller.abort(reason)
    await assert.rejects(walk, reason)
  })
})
