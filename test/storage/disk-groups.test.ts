import assert from 'node:assert/strict'
import { accessSync } from 'node:fs'
import {
  chmod,
  chown,
  mkdir,
  readFile,
  readlink,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { digestsOf } from '../../src/hashing/file-hasher.ts'
import type { Blob, HashedBlob } from '../../src/ports/blob.ts'
import { readBlob, streamOf } from '../support/byte-streams.ts'
import { sha256 } from '../support/hashes.ts'
import fc, { forAllAsync } from '../support/property.ts'
import { groupItem, textItem } from '../support/latest-item-contract.ts'
import { needs } from '../support/requirements.ts'
import { groupHashOf, unzip } from '../support/unzip.ts'
import { makeTree } from '../support/make-tree.ts'
import {
  bytesOf,
  openBlobStore,
  openTestStorage,
  type OpenedStorage,
} from './support/open-stores.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { execute } from '../support/execute.ts'

const NEVER = new AbortController().signal
const isRoot = process.geteuid?.() === 0
const NOBODY = 65_534

async function putGroup({ blobs, latest }: OpenedStorage, path: string): Promise<HashedBlob> {
  const { blob } = await blobs.adoptGroup([path], NEVER)
  await latest.put(await groupItem(blob), blob)
  return blob
}

/** A store, and the archive of the folder `g` of this tree in it. */
async function adopt(t: TestContext, tree: Readonly<Record<string, string | Buffer>>) {
  const opened = await openBlobStore(t)
  const folder = await makeTree(t, tree)
  const adopted = await opened.store.adoptGroup([join(folder, 'g')], NEVER)
  return { ...opened, ...adopted, folder }
}

/** Has another file take the place of a file of these 5 bytes, or none. */
const CHANGES: Readonly<Record<string, (path: string) => Promise<void>>> = {
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

async function readPiece(blob: Blob, start: number, length: number): Promise<Buffer> {
  const opened = await blob.open()
  try {
    const target = Buffer.alloc(length)
    return target.subarray(0, await opened.read(target, start))
  } finally {
    await opened.close()
  }
}

describe('adoptGroup()', needs('python3', 'mkfifo'), () => {
  it('makes a folder an archive, with all that is below it', async (t) => {
    const large = 'large'.repeat(400_000)
    const files = { 'g/one.txt': 'one', 'g/.hidden': 'too', 'g/none': '', 'g/deep/er/large': large }
    const { blob, leftOut } = await adopt(t, { ...files, 'g/nothing here/': '' })
    const archive = await unzip(await readBlob(blob))
    const folders = ['g/', 'g/deep/', 'g/deep/er/', 'g/nothing here/']
    assert.deepEqual(archive, {
      ...files,
      ...Object.fromEntries(folders.map((name) => [name, 'a folder'])),
    })
    assert.deepEqual(leftOut, { unreadable: 0, special: 0 })
  })

  it('makes several files one archive, and gives each a name of its own', async (t) => {
    const { store } = await openBlobStore(t)
    const folder = await makeTree(t, { 'a.txt': '1', 'b/a.txt': '2', 'c/a.txt': '3', 'd/x': '4' })
    const names = ['c/a.txt', 'a.txt', 'b/a.txt', 'a.txt', 'd']
    const paths = names.map((name) => join(folder, name))
    const { blob } = await store.adoptGroup(paths, NEVER)
    const named = { 'a (2).txt': '2', 'a (3).txt': '3', 'a.txt': '1', 'd/x': '4' }
    assert.deepEqual(await unzip(await readBlob(blob)), { ...named, 'd/': 'a folder' })
  })

  it('says what it will have, and has it in every piece', async (t) => {
    const [large, small] = ['x'.repeat(3000), 'y'.repeat(70)]
    const tree = { 'g/a': large, 'g/b': '', 'g/c/d': small, 'g/e/': '', 'g/f': 'z' }
    const { blob } = await adopt(t, tree)
    const whole = await readBlob(blob)
    assert.equal(whole.length, blob.size)
    assert.deepEqual(await digestsOf(whole), blob.digests)
    assert.deepEqual(await readBlob(blob), whole)
    const places = fc.integer({ min: 0, max: blob.size + 10 })
    await forAllAsync(places, places, async (start, length) => {
      const piece = await readPiece(blob, start, length)
      assert.deepEqual(piece, whole.subarray(start, start + length))
    })
    const opened = await blob.open()
    await forAllAsync(places, async (start) => {
      const target = Buffer.alloc(100)
      const count = await opened.read(target, start)
      assert.deepEqual(target.subarray(0, count), whole.subarray(start, start + 100))
    })
    await opened.close()
  })

  it('follows no links and opens no pipes, and counts them', async (t) => {
    const { store } = await openBlobStore(t)
    const folder = await makeTree(t, { 'g/a': 'mine', 'secret/b': 'not copied', 'g/links/': '' })
    await symlink(join(folder, 'secret'), join(folder, 'g/links/folder'))
    await symlink(join(folder, 'secret/b'), join(folder, 'g/file'))
    await execute('mkfifo', [join(folder, 'g/pipe')])
    const { blob, leftOut } = await store.adoptGroup([join(folder, 'g')], NEVER)
    assert.deepEqual(await unzip(await readBlob(blob)), {
      'g/': 'a folder',
      'g/links/': 'a folder',
      'g/a': 'mine',
    })
    assert.deepEqual(leftOut, { unreadable: 0, special: 3 })
    const links = [join(folder, 'g/file'), join(folder, 'g/links/folder')]
    await assert.rejects(store.adoptGroup(links, NEVER), { code: 'GROUP_EMPTY' })
  })

  // Protocol: They refuse a Group with any other hash
  it('knows the hash that programs compute of what they unpack', async (t) => {
    const tree = { 'g/b': 'two', 'g/a/x': '1', 'g/a b': '', 'g/é/🧀': 'cheese', 'g/empty/': '' }
    const { blob } = await adopt(t, tree)
    assert.equal(blob.groupHash, groupHashOf(await unzip(await readBlob(blob))))
    // As the program of the reference project prints it.
    const { blob: other } = await adopt(t, { 'g/a': 'hello' })
    const line = 'F|g/a|5|2CF24DBA5FB0A30E26E83B2AC5B9E29E1B161E5C1FA7425E73043362938B9824\0'
    assert.equal(other.groupHash, sha256(Buffer.from(`D|g/\0${line}`)))
  })

  it('leaves the files alone, and keeps nothing once it was discarded', async (t) => {
    const { blob, folder, count } = await adopt(t, { 'g/a': 'mine' })
    const opened = await blob.open()
    await blob.discard()
    await blob.discard()
    await assert.rejects(blob.open(), { code: 'BLOB_GONE' })
    const target = Buffer.alloc(blob.size)
    assert.equal(await opened.read(target, 0), blob.size)
    await opened.close()
    assert.deepEqual(await unzip(target), { 'g/': 'a folder', 'g/a': 'mine' })
    assert.equal(await readFile(join(folder, 'g/a'), 'utf8'), 'mine')
    assert.equal(await count(), 0)
  })

  for (const [what, change] of Object.entries(CHANGES)) {
    it(`is gone once one of the files is ${what}`, async (t) => {
      const { blob, folder } = await adopt(t, { 'g/a': 'first', 'g/b/c': 'hello' })
      await change(join(folder, 'g/b/c'))
      await assert.rejects(blob.open(), { code: 'BLOB_GONE' })
    })
  }
})

describe('a copied group', needs('python3'), () => {
  it('survives a restart, and a Text, and is not copied to anywhere', async (t) => {
    const files = { 'g/a': 'x'.repeat(500_000), 'g/b/c': 'hello' }
    const folder = await makeTree(t, { ...files, 'g/d/': '' })
    const storage = await openTestStorage(t)
    await putGroup(storage, join(folder, 'g'))
    const whole = await bytesOf(storage)
    const again = await storage.restart()
    assert.equal(again.latest.current?.item.type, 'Group')
    assert.deepEqual(await bytesOf(again), whole)
    await again.latest.put(await textItem('text'), undefined)
    const third = await again.restart()
    const folders = Object.fromEntries(['g/', 'g/b/', 'g/d/'].map((name) => [name, 'a folder']))
    assert.deepEqual(await unzip(await bytesOf(third)), { ...files, ...folders })
    const [name = '', ...others] = await third.blobFiles()
    const { mode, size } = await stat(join(third.folder, 'blobs', name))
    assert.deepEqual([others.length, mode & 0o777, size < 2000], [0, 0o600, true])
  })

  it('is swept when another one took its place, or the program died before it became the item', async (t) => {
    const folder = await makeTree(t, { 'g/a': 'mine', 'h/b': 'yours' })
    const storage = await openTestStorage(t)
    await putGroup(storage, join(folder, 'h'))
    await putGroup(storage, join(folder, 'g'))
    assert.equal((await storage.blobFiles()).length, 1)
    await storage.blobs.adoptGroup([join(folder, 'g')], NEVER)
    assert.equal((await storage.blobFiles()).length, 2)
    const again = await storage.restart()
    assert.equal((await again.blobFiles()).length, 1)
    assert.deepEqual(await unzip(await bytesOf(again)), { 'g/': 'a folder', 'g/a': 'mine' })
  })

  it('stays, without its bytes, when a file is another one after a restart', async (t) => {
    for (const change of [rm, (path: string) => utimes(path, 2, 2)]) {
      const folder = await makeTree(t, { 'g/a': 'mine', 'g/b': 'mine' })
      const storage = await openTestStorage(t)
      await putGroup(storage, join(folder, 'g'))
      const again = await storage.restart(() => change(join(folder, 'g/b')))
      assert.equal(again.latest.current?.item.dataName, 'g.zip')
      await assert.rejects(bytesOf(again), { code: 'BLOB_GONE' })
      assert.ok(again.latest.current, 'there is an item')
      const { blob } = again.latest.current
      assert.ok(blob !== undefined, 'it has a list')
      await assert.rejects(again.latest.prepare(blob), { code: 'BLOB_GONE' })
    }
  })

  it('refuses the start when its list is missing, cut off or damaged', async (t) => {
    const spoil: readonly ((path: string) => Promise<void>)[] = [
      (path) => rm(path),
      (path) => truncate(path, 50),
      async (path) => truncate(path, (await stat(path)).size - 1),
      (path) => writeFile(path, 'secret.txt\n'),
    ]
    for (const change of spoil) {
      const folder = await makeTree(t, { 'g/secret.txt': 'mine' })
      const storage = await openTestStorage(t)
      await putGroup(storage, join(folder, 'g'))
      const [name = ''] = await storage.blobFiles()
      const restart = storage.restart(() => change(join(storage.folder, 'blobs', name)))
      await assert.rejects(restart, (error: Error) => {
        assert.equal('code' in error && error.code, 'DATA_CORRUPT')
        assert.match(error.message, /item\.json.*blobs\/[0-9a-f]{32}.*; /)
        assert.doesNotMatch(`${error.stack} ${String(error.cause)}`, /secret/)
        return true
      })
      // Nothing was lost by trying.
      assert.match(await readFile(join(storage.folder, 'item.json'), 'utf8'), /"group"/)
    }
  })

  // Protocol: put together while it is downloaded
  it('breaks off when a file changes while it is read', async (t) => {
    for (const [what, change] of Object.entries(CHANGES)) {
      const { blob, folder } = await adopt(t, { 'g/a': 'first', 'g/b': 'hello' })
      const opened = await blob.open()
      const head = Buffer.alloc(blob.size / 4)
      assert.equal(await opened.read(head, 0), head.length)
      await change(join(folder, 'g/b'))
      const rest = Buffer.alloc(blob.size)
      await assert.rejects(opened.read(rest, head.length), { code: 'BLOB_GONE' }, what)
      await opened.close()
    }
  })

  it('is read through no link that took the place of its folder', async (t) => {
    const { blob, folder } = await adopt(t, { 'g/a/file': 'mine' })
    // The very same file, which only the way to it tells apart.
    await rename(join(folder, 'g/a'), join(folder, 'away'))
    await symlink(join(folder, 'away'), join(folder, 'g/a'))
    await assert.rejects(readBlob(blob), { code: 'BLOB_GONE' })
  })

  it('hands out no byte of a file that was written to in the middle of it', async (t) => {
    const { blob, folder } = await adopt(t, { 'g/a': 'x'.repeat(100_000) })
    const opened = await blob.open()
    const target = Buffer.alloc(1000)
    assert.equal(await opened.read(target, 0), 1000)
    await writeFile(join(folder, 'g/a'), 'y'.repeat(100_000))
    await assert.rejects(opened.read(target, 1000), { code: 'BLOB_GONE' })
    await opened.close()
  })

  it('is not shared when a file changes while it is hashed', async (t) => {
    const { store, count } = await openBlobStore(t)
    const folder = await makeTree(t, { 'g/a': Buffer.alloc(30_000_000), 'g/b': 'hello' })
    let isDone = false
    const adopted = store.adoptGroup([join(folder, 'g')], NEVER).finally(() => (isDone = true))
    const refused = assert.rejects(adopted, { code: 'BLOB_GONE' })
    // Many times until the one before it is hashed.
    for (let time = 1; !isDone; time++) await utimes(join(folder, 'g/b'), time, time)
    await refused
    assert.equal(await count(), 0)
  })

  const onLinux = { skip: process.platform === 'linux' ? false : 'skipped: needs Linux' }
  it('is hashed no further when something else is copied', onLinux, async (t) => {
    const { store, count } = await openBlobStore(t)
    const folder = await makeTree(t, { 'g/a': 'x' })
    // Minutes of hashing, and no byte on the disk.
    await truncate(join(folder, 'g/a'), 8 * 2 ** 30)
    const controller = new AbortController()
    const reason = new Error('something else was copied')
    const refused = assert.rejects(store.adoptGroup([folder], controller.signal), reason)
    while (!(await openFiles()).includes(join(folder, 'g/a'))) await setImmediate()
    controller.abort(reason)
    await refused
    assert.equal((await openFiles()).includes(join(folder, 'g/a')), false)
    assert.equal(await count(), 0)
  })

  it('has room in what files may have, with its names', async (t) => {
    const storage = await openTestStorage(t, { limits: { maxFileBytes: 1000 } })
    const folder = await makeTree(t, { 'g/a': 'x'.repeat(700), 'h/a': 'x'.repeat(999) })
    assert.ok((await storage.blobs.adoptGroup([join(folder, 'g')], NEVER)).blob.size <= 1000)
    const large = storage.blobs.adoptGroup([join(folder, 'h')], NEVER)
    await assert.rejects(large, { code: 'GROUP_TOO_LARGE' })
  })

  it('may have thousands of empty folders, and names that are not UTF-8', async (t) => {
    const { store } = await openBlobStore(t)
    const folder = await makeTree(t, { 'g/a': 'first' })
    for (let i = 0; i < 3000; i++) await mkdir(join(folder, `g/folder ${i}`))
    await writeFile(Buffer.concat([Buffer.from(`${folder}/g/`), Buffer.of(0xff, 0x62)]), 'odd')
    await writeFile(join(folder, 'g', 'C:\\x'), 'drive')
    const { blob } = await store.adoptGroup([join(folder, 'g')], NEVER)
    const tree = await unzip(await readBlob(blob))
    assert.equal(Object.keys(tree).length, 3004)
    assert.deepEqual(
      [tree['g/\ufffdb'], tree['g/C__x'], tree['g/folder 7/']],
      ['odd', 'drive', 'a folder'],
    )
  })

  it('may have files of any time, also after a restart', async (t) => {
    const folder = await makeTree(t, { 'g/a': 'moon', 'g/b': 'mars', 'g/c/': '' })
    const storage = await openTestStorage(t)
    const days = { a: '1969-07-20', b: '2200-01-01', c: '1950-01-01' }
    for (const [name, day] of Object.entries(days)) {
      await utimes(join(folder, 'g', name), new Date(day), new Date(day))
    }
    await putGroup(storage, join(folder, 'g'))
    const archive = await unzip(await bytesOf(await storage.restart()))
    const folders = { 'g/': 'a folder', 'g/c/': 'a folder' }
    assert.deepEqual(archive, { 'g/a': 'moon', 'g/b': 'mars', ...folders })
  })

  const asNobodyToo = { skip: isSourceOpen() ? false : 'skipped: needs root, and sources for all' }
  it('leaves out what this user may not read, and says how much', asNobodyToo, async (t) => {
    const { store, folder: own } = await openBlobStore(t)
    const folder = await makeTree(t, { 'g/a': 'mine', 'g/b': 'not mine', 'g/c/d': 'not mine' })
    await chmod(join(folder, 'g/b'), 0o600)
    await chmod(join(folder, 'g/c'), 0o700)
    await chmod(folder, 0o755)
    await chown(own, NOBODY, NOBODY)
    const { blob, leftOut } = await asNobody(() => store.adoptGroup([join(folder, 'g')], NEVER))
    const archive = await unzip(await asNobody(() => readBlob(blob)))
    assert.deepEqual(archive, { 'g/': 'a folder', 'g/a': 'mine' })
    assert.deepEqual(leftOut, { unreadable: 2, special: 0 })
  })
})

/** What this process, with its workers, has open. */
async function openFiles(): Promise<readonly string[]> {
  const names = await readdir('/proc/self/fd')
  // Those that were closed meanwhile are gone.
  return Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
}

/** Whether this test can become a user who may load the worker, and nothing else. */
function isSourceOpen(): boolean {
  if (!isRoot) return false
  process.seteuid?.(NOBODY)
  try {
    accessSync(new URL('../../src/storage/blobs/zip-worker.js', import.meta.url))
    return true
  } catch {
    return false
  } finally {
    process.seteuid?.(0)
  }
}

async function asNobody<T>(action: () => Promise<T>): Promise<T> {
  process.seteuid?.(NOBODY)
  try {
    return await action()
  } finally {
    process.seteuid?.(0)
  }
}

/** An archive of uploads of these names and contents, as the current item. */
async function putBundle(
  { blobs, latest }: OpenedStorage,
  files: readonly (readonly [string, string])[],
): Promise<HashedBlob> {
  const members = await Promise.all(
    files.map(async ([dataName, text]) => {
      const blob = await blobs.receive(streamOf(text), { maxBytes: 10_000_000 })
      return { dataName, blob }
    }),
  )
  const { blob } = await blobs.bundle(members, NEVER)
  await latest.put(await groupItem(blob), blob)
  return blob
}

describe('an archive of uploads', needs('python3'), () => {
  const FILES = [
    ['image.jpg', 'one'],
    ['image.jpg', 'two'],
    ['C:evil', ''],
  ] as const
  const IN_ZIP = { C_evil: '', 'image (2).jpg': 'two', 'image.jpg': 'one' }

  it('is there after a restart, also where the data directory has moved, or is a link', async (t) => {
    const storage = await openTestStorage(t)
    const blob = await putBundle(storage, FILES)
    const bytes = await readBlob(blob)
    assert.deepEqual(await unzip(bytes), IN_ZIP)
    assert.deepEqual(await digestsOf(bytes), blob.digests)
    await storage.close()
    const copy = join(await temporaryFolder(t), 'copy')
    await execute('cp', ['-r', storage.folder, copy])
    await rm(join(copy, 'lock'), { force: true })
    const link = `${copy}-link`
    await symlink(copy, link)
    for (const folder of [copy, link]) {
      const again = await openTestStorage(t, { folder })
      assert.deepEqual(await bytesOf(again), bytes)
      const names = again.latest.binary?.blob?.members?.map(({ dataName }) => dataName)
      assert.deepEqual(
        names,
        FILES.map(([name]) => name),
      )
      await again.close()
    }
  })

  it('has its uploads until it is replaced, and whoever reads it until it was read', async (t) => {
    const storage = await openTestStorage(t)
    const blob = await putBundle(storage, FILES)
    assert.equal((await storage.blobFiles()).length, 4)
    const opened = await blob.open()
    await putBundle(storage, [['other', 'other']])
    assert.equal((await storage.blobFiles()).length, 2 + 3)
    const target = Buffer.alloc(blob.size)
    assert.equal(await opened.read(target, 0), blob.size)
    assert.deepEqual(await unzip(target), IN_ZIP)
    await opened.close()
    while ((await storage.blobFiles()).length > 2) continue
  })

  it('keeps the daemon from starting when an upload of it is missing', async (t) => {
    const storage = await openTestStorage(t)
    const [, second] = (await putBundle(storage, FILES)).members ?? []
    await second?.blob.discard()
    await assert.rejects(storage.restart(), { code: 'DATA_CORRUPT', message: /missing or cut off/ })
  })

  it('is made beside a much larger one, for which it does not wait', async (t) => {
    const { store, folder } = await openBlobStore(t)
    const name = 'ab'.repeat(16)
    await writeFile(join(folder, name), '')
    const size = 2_000_000_000
    await truncate(join(folder, name), size)
    const digests = await digestsOf(Buffer.alloc(0))
    const [film, photo] = [
      await store.restore(name, { size, digests }),
      await store.receive(streamOf('photo'), { maxBytes: 10 }),
    ]
    assert.ok(film)
    const leaving = new AbortController()
    const ended: string[] = []
    await Promise.all([
      store.bundle([{ dataName: 'film', blob: film }], leaving.signal).then(
        () => ended.push('film'),
        () => ended.push('film: left'),
      ),
      store.bundle([{ dataName: 'photo', blob: photo }], NEVER).then(({ blob }) => {
        ended.push(`photo: ${blob.groupHash === groupHashOf({ photo: 'photo' })}`)
        leaving.abort()
      }),
    ])
    assert.deepEqual(ended, ['photo: true', 'film: left'])
  })

  it('is not made of more bytes than one may have, and its uploads stay as they are', async (t) => {
    const storage = await openTestStorage(t, { limits: { maxFileBytes: 100 } })
    const blob = await storage.blobs.receive(streamOf('a'.repeat(90)), { maxBytes: 100 })
    const bundle = storage.blobs.bundle([{ dataName: 'a', blob }], NEVER)
    await assert.rejects(bundle, { code: 'GROUP_TOO_LARGE' })
    assert.equal(String(await readBlob(blob)), 'a'.repeat(90))
    assert.equal((await storage.blobFiles()).length, 1)
  })
})
