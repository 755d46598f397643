/**
 * What every `BlobStore` does with several files, or a folder.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { digestsOf } from '../../src/hashing/content-id.ts'
import type { Blob } from '../../src/ports/blob.ts'
import type { OpenedBlobStore } from './blob-store-contract.ts'
import { readBlob } from './byte-streams.ts'
import fc from './property.ts'
import { needs } from './requirements.ts'
import { unzip } from './unzip.ts'

const NEVER = new AbortController().signal

/** A folder of the user, with `tree` in it: files of these contents, and folders. */
export async function makeTree(
  t: TestContext,
  tree: Readonly<Record<string, string | Buffer>>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-user-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(tree)) {
    const path = join(folder, name)
    await mkdir(name.endsWith('/') ? path : join(path, '..'), { recursive: true })
    if (name.endsWith('/')) continue
    await writeFile(path, content)
    // Whatever the clock of the file system can tell apart.
    await utimes(path, 1_700_000_000, 1_700_000_000)
  }
  return folder
}

async function readPiece(blob: Blob, start: number, length: number): Promise<Buffer> {
  const opened = await blob.open()
  try {
    const target = Buffer.alloc(length)
    return target.subarray(0, await opened.read(target, start))
  } finally {
    await opened.close()
  }
}

export function describeGroups(open: (t: TestContext) => Promise<OpenedBlobStore>): void {
  describe('adoptGroup()', needs('python3', 'mkfifo'), () => {
    it('makes a folder an archive, with all that is below it', async (t) => {
      const { store } = await open(t)
      const large = Buffer.alloc(2_000_000, 'large')
      const folder = await makeTree(t, {
        'album/one.txt': 'one',
        'album/.hidden': 'too',
        'album/none': '',
        'album/deep/er/large.bin': large,
        'album/nothing here/': '',
      })
      const { blob, leftOut } = await store.adoptGroup([join(folder, 'album')], NEVER)
      assert.deepEqual(await unzip(await readBlob(blob)), {
        'album/nothing here/': 'a folder',
        'album/.hidden': 'too',
        'album/deep/er/large.bin': large.toString('latin1'),
        'album/none': '',
        'album/one.txt': 'one',
      })
      assert.deepEqual(leftOut, { unreadable: 0, special: 0 })
    })

    it('makes several files one archive, and gives each a name of its own', async (t) => {
      const { store } = await open(t)
      const folder = await makeTree(t, { 'a.txt': '1', 'b/a.txt': '2', 'c/a.txt': '3', 'd/x': '4' })
      const names = ['c/a.txt', 'a.txt', 'b/a.txt', 'a.txt', 'd']
      const paths = names.map((name) => join(folder, name))
      const { blob } = await store.adoptGroup(paths, NEVER)
      assert.deepEqual(await unzip(await readBlob(blob)), {
        'a (2).txt': '2',
        'a (3).txt': '3',
        'a.txt': '1',
        'd/x': '4',
      })
    })

    it('says what it will have, and has it in every piece', async (t) => {
      const { store } = await open(t)
      const folder = await makeTree(t, {
        'g/a': 'x'.repeat(3000),
        'g/b': '',
        'g/c/d': 'y'.repeat(70),
        'g/e/': '',
        'g/f': 'z',
      })
      const { blob } = await store.adoptGroup([join(folder, 'g')], NEVER)
      const whole = await readBlob(blob)
      assert.equal(whole.length, blob.size)
      assert.deepEqual(await digestsOf(whole), blob.digests)
      assert.deepEqual(await readBlob(blob), whole)
      const places = fc.integer({ min: 0, max: blob.size + 10 })
      await fc.assert(
        fc.asyncProperty(places, places, async (start, length) => {
          const piece = await readPiece(blob, start, length)
          assert.deepEqual(piece, whole.subarray(start, start + length))
        }),
      )
      const opened = await blob.open()
      await fc.assert(
        fc.asyncProperty(places, async (start) => {
          const target = Buffer.alloc(100)
          const count = await opened.read(target, start)
          assert.deepEqual(target.subarray(0, count), whole.subarray(start, start + 100))
        }),
      )
      await opened.close()
    })

    it('follows no links and opens no pipes, and counts them', async (t) => {
      const { store } = await open(t)
      const folder = await makeTree(t, { 'g/a': 'mine', 'secret/b': 'not copied', 'g/links/': '' })
      await symlink(join(folder, 'secret'), join(folder, 'g/links/folder'))
      await symlink(join(folder, 'secret/b'), join(folder, 'g/file'))
      await promisify(execFile)('mkfifo', [join(folder, 'g/pipe')])
      const { blob, leftOut } = await store.adoptGroup([join(folder, 'g')], NEVER)
      assert.deepEqual(await unzip(await readBlob(blob)), { 'g/links/': 'a folder', 'g/a': 'mine' })
      assert.deepEqual(leftOut, { unreadable: 0, special: 3 })
      const links = [join(folder, 'g/file'), join(folder, 'g/links/folder')]
      await assert.rejects(store.adoptGroup(links, NEVER), { code: 'GROUP_EMPTY' })
    })

    it('leaves the files alone, and keeps nothing once it was discarded', async (t) => {
      const { store, count } = await open(t)
      const folder = await makeTree(t, { 'g/a': 'mine' })
      const { blob } = await store.adoptGroup([join(folder, 'g')], NEVER)
      const opened = await blob.open()
      await blob.discard()
      await blob.discard()
      await assert.rejects(blob.open(), { code: 'BLOB_GONE' })
      const target = Buffer.alloc(blob.size)
      assert.equal(await opened.read(target, 0), blob.size)
      await opened.close()
      assert.deepEqual(await unzip(target), { 'g/a': 'mine' })
      assert.equal(await readFile(join(folder, 'g/a'), 'utf8'), 'mine')
      assert.equal(await count(), 0)
    })

    it('is gone once one of the files is not what it was', async (t) => {
      const { store } = await open(t)
      const changes: Readonly<Record<string, (path: string) => Promise<void>>> = {
        'written to': (path) => writeFile(path, 'jello'),
        'cut off': (path) => truncate(path, 1),
        removed: (path) => rm(path),
        'replaced by a folder': async (path) => {
          await rm(path)
          await mkdir(path)
        },
        'replaced by a link to itself': async (path) => {
          await rename(path, `${path}.real`)
          await symlink(`${path}.real`, path)
        },
      }
      for (const [what, change] of Object.entries(changes)) {
        const folder = await makeTree(t, { 'g/a': 'first', 'g/b/c': 'hello' })
        const { blob } = await store.adoptGroup([join(folder, 'g')], NEVER)
        await change(join(folder, 'g/b/c'))
        await assert.rejects(blob.open(), { code: 'BLOB_GONE' }, what)
      }
    })

    it('stops when nobody wants it any more', async (t) => {
      const { store, count } = await open(t)
      const reason = new Error('something else was copied')
      const folder = await makeTree(t, { 'g/a': 'mine' })
      const aborted = AbortSignal.abort(reason)
      await assert.rejects(store.adoptGroup([join(folder, 'g')], aborted), reason)
      assert.equal(await count(), 0)
    })
  })
}
