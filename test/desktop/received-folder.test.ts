import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as turnOfEvents } from 'node:timers/promises'
import { moveToFreeName } from '../../src/lib/save-under-free-name.ts'
import { ReceivedFolder } from '../../src/desktop/received-folder.ts'
import type { Blob } from '../../src/ports/blob.ts'
import type { ReserveRoom } from '../../src/ports/disk-room.ts'
import { openBlobStore } from '../storage/support/open-stores.ts'
import { streamOf } from '../support/byte-streams.ts'
import { sha256 } from '../support/hashes.ts'
import { fileItem, groupItem, textItem } from '../support/latest-item-contract.ts'
import { blobOf } from '../support/memory-blob.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const asRoot = { skip: process.geteuid?.() === 0 ? false : 'skipped: needs root' } as const
const NOBODY = 65_534

/** Nothing is saved, and the reason names `named`. */
async function refuses(path: string, named: string, reason: RegExp): Promise<void> {
  const before = await readdir(path).catch(() => [])
  await assert.rejects(new ReceivedFolder(path).save(await blobOf('a'), 'a'), (error: Error) => {
    assert.ok(error.message.includes(`${named} `), error.message)
    assert.match(error.message, reason)
    return true
  })
  assert.deepEqual(await readdir(path).catch(() => []), before)
}

async function open(t: TestContext) {
  const path = await temporaryFolder(t)
  return { path, folder: new ReceivedFolder(path) }
}

describe('ReceivedFolder', () => {
  it('keeps the bytes and the name of a file, and says where', async (t) => {
    const path = await temporaryFolder(t)
    const bytes = randomBytes(3 * 1024 * 1024 + 17)
    const saved = await new ReceivedFolder(path).save(await blobOf(bytes), 'Bild 1.png')
    assert.equal(saved, join(path, 'Bild 1.png'))
    assert.ok(bytes.equals(await readFile(saved)))
    assert.deepEqual(await readdir(path), ['Bild 1.png'])
  })

  it('says of each block that it has come further', async (t) => {
    const { folder } = await open(t)
    const written: string[] = []
    folder.onStep(() => written.push('block'))
    await folder.save(await blobOf(randomBytes(2 * 1024 * 1024 + 17)), 'a')
    assert.equal(written.length, 3)
  })

  it('saves an empty file', async (t) => {
    const saved = await new ReceivedFolder(await temporaryFolder(t)).save(await blobOf(''), 'a')
    assert.equal((await stat(saved)).size, 0)
  })

  it('makes the folder when it is needed, private, and its files as usual', async (t) => {
    const path = join(await temporaryFolder(t), 'Downloads', 'clipgate')
    const folder = new ReceivedFolder(path)
    const umask = process.umask(0o027)
    t.after(() => process.umask(umask))
    const saved = await folder.save(await blobOf('a'), 'a')
    assert.equal((await stat(path)).mode & 0o777, 0o700)
    assert.equal((await stat(saved)).mode & 0o777, 0o640)
    await rm(path, { recursive: true })
    await folder.save(await blobOf('a'), 'a')
  })

  it('offers files that are there as they came, and saves none of the others again', async (t) => {
    const { path, folder } = await open(t)
    const [blob, otherBlob] = [await blobOf('one'), await blobOf('two')]
    const one = { item: await fileItem('a.txt', blob), blob }
    const other = { item: await fileItem('a.txt', otherBlob), blob: otherBlob }
    for (const stored of [one, other]) await folder.keep(stored)
    const later = new ReceivedFolder(path)
    const paths = [join(path, 'a (2).txt')]
    assert.deepEqual(await later.offerKept(other), { kind: 'files', paths })
    await rm(join(path, 'a (2).txt'))
    await writeFile(join(path, 'a.txt'), 'new')
    for (const stored of [one, other]) assert.equal(await later.offerKept(stored), undefined)
    assert.deepEqual(await readdir(path), ['a.txt'])
    assert.equal(await new ReceivedFolder(join(path, 'none')).offerKept(one), undefined)
  })

  it('gives an absolute path', async (t) => {
    const path = await temporaryFolder(t)
    const folder = new ReceivedFolder(relative(process.cwd(), path))
    assert.equal(await folder.save(await blobOf('a'), 'a'), join(path, 'a'))
  })

  it('never replaces a file: the next one gets a number', async (t) => {
    const { path, folder } = await open(t)
    for (const content of ['one', 'two', 'three']) await folder.save(await blobOf(content), 'a.txt')
    const names = ['a.txt', 'a (2).txt', 'a (3).txt']
    const read = names.map((name) => readFile(join(path, name), 'utf8'))
    assert.deepEqual(await Promise.all(read), ['one', 'two', 'three'])
  })

  it('never replaces a file, when many of one name come at once', async (t) => {
    const { folder } = await open(t)
    const contents = Array.from({ length: 20 }, (_, n) => `content ${n}`)
    const saved = await Promise.all(
      contents.map(async (content) => folder.save(await blobOf(content), 'a.txt')),
    )
    assert.equal(new Set(saved).size, 20)
    const found = await Promise.all(saved.map((file) => readFile(file, 'utf8')))
    assert.deepEqual(found, contents)
  })

  it('does not follow a link that has the name', async (t) => {
    const path = await temporaryFolder(t)
    const precious = join(await temporaryFolder(t), 'precious')
    await writeFile(precious, 'precious')
    await symlink(precious, join(path, 'a'))
    await symlink(join(path, 'nowhere'), join(path, 'b'))
    const folder = new ReceivedFolder(path)
    // The same bytes behind a link are not taken for the file either.
    const options = { sha256: sha256('precious') }
    assert.equal(await folder.save(await blobOf('precious'), 'a', options), join(path, 'a (2)'))
    assert.equal(await folder.save(await blobOf('x'), 'b'), join(path, 'b (2)'))
    assert.equal(await readFile(precious, 'utf8'), 'precious')
    assert.ok((await lstat(join(path, 'b'))).isSymbolicLink())
  })

  it('uses the file again that has the same name and bytes', async (t) => {
    const { path, folder } = await open(t)
    await folder.save(await blobOf('aaa'), 'a.txt', { sha256: sha256('aaa') })
    const second = await folder.save(await blobOf('bbb'), 'a.txt', { sha256: sha256('bbb') })
    const again = await folder.save(await blobOf('bbb'), 'a.txt', { sha256: sha256('bbb') })
    assert.equal(again, second)
    assert.deepEqual((await readdir(path)).toSorted(), ['a (2).txt', 'a.txt'])
  })

  it('is asked for the same file many times at once, and has one of it', async (t) => {
    const { path, folder } = await open(t)
    const options = { sha256: sha256('aaa') }
    const blob = await blobOf('aaa')
    const saved = Array.from({ length: 20 }, () => folder.save(blob, 'a.txt', options))
    assert.deepEqual([...new Set(await Promise.all(saved))], [join(path, 'a.txt')])
    assert.deepEqual(await readdir(path), ['a.txt'])
    // A file that somebody has written to since is another one.
    await writeFile(join(path, 'a.txt'), 'bbb')
    assert.equal(await folder.save(blob, 'a.txt', options), join(path, 'a (2).txt'))
  })

  it('writes nothing when there is no room for the file, and gives its room back', async (t) => {
    const path = join(await temporaryFolder(t), 'received')
    const space = { left: 5 }
    const released: number[] = []
    const reserve: ReserveRoom = async (bytes, where) => {
      assert.equal(where, path)
      if (bytes > space.left) throw new Error('too full')
      const take = (count: number): void => {
        space.left -= count
      }
      return { wrote: take, release: () => void released.push(bytes) }
    }
    const folder = new ReceivedFolder(path, { reserve })
    await assert.rejects(folder.save(await blobOf('123456'), 'a'), /too full/)
    assert.deepEqual(await readdir(path), [])
    await folder.save(await blobOf('1234'), 'a')
    assert.deepEqual([space.left, released], [1, [4]])
  })

  it('saves two files at a time, so that a slow disk leaves others what they need', async (t) => {
    const path = await temporaryFolder(t)
    const waiting: (() => void)[] = []
    let most = 0
    const folder = new ReceivedFolder(path, {
      reserve: async () => {
        await new Promise<void>((resolve) => waiting.push(resolve))
        return { wrote: () => undefined, release: () => undefined }
      },
    })
    const names = ['a', 'b', 'c', 'd', 'e']
    const blobs = await Promise.all(names.map(blobOf))
    const saves = Promise.all(blobs.map((blob, index) => folder.save(blob, names[index] ?? '')))
    for (let ended = 0; ended < names.length; ended += 1) {
      while (waiting.length < Math.min(2, names.length - ended)) await turnOfEvents()
      // Files that were not to wait are here by then.
      for (let turn = 0; turn < 200; turn += 1) await turnOfEvents()
      most = Math.max(most, waiting.length)
      waiting.shift()?.()
    }
    await saves
    assert.equal(most, 2)
    assert.deepEqual((await readdir(path)).sort(), names)
  })

  it('reads the last eight files again to find one that has the same bytes, and no more', async (t) => {
    const path = await temporaryFolder(t)
    let folder = new ReceivedFolder(path)
    const save = async (content: string): Promise<string> =>
      folder.save(await blobOf(content), 'a', { sha256: sha256(content) })
    for (const content of 'abcdefghi') await save(content)
    // Whoever wrote them knows them.
    assert.equal(await save('a'), join(path, 'a'))
    // What a kill leaves saved, and not noted, came last.
    for (const [content, name] of Object.entries({ i: 'a (9)', b: 'a (2)', a: 'a (10)' })) {
      folder = new ReceivedFolder(path)
      assert.equal(await save(content), join(path, name))
    }
  })

  it('makes a new file when it does not know the hash, or a folder has the name', async (t) => {
    const { path, folder } = await open(t)
    await folder.save(await blobOf('a'), 'a')
    assert.equal(await folder.save(await blobOf('a'), 'a'), join(path, 'a (2)'))
    await mkdir(join(path, 'b'))
    const options = { sha256: sha256('b') }
    assert.equal(await folder.save(await blobOf('b'), 'b', options), join(path, 'b (2)'))
  })

  it('leaves nothing when the bytes end early, or cannot be read', async (t) => {
    const { path, folder } = await open(t)
    const whole = await blobOf('abc')
    const short: Blob = { size: 5, open: () => whole.open() }
    const gone: Blob = { size: 5, open: () => Promise.reject(new Error('gone')) }
    await assert.rejects(folder.save(short, 'a'), /bytes are missing/)
    await assert.rejects(folder.save(gone, 'a'), /gone/)
    assert.deepEqual(await readdir(path), [])
  })

  it('rejects when the folder cannot be made', async (t) => {
    const path = join(await temporaryFolder(t), 'file')
    await writeFile(path, '')
    await assert.rejects(new ReceivedFolder(join(path, 'sub')).save(await blobOf('a'), 'a'))
  })

  it('is not used when every user can change it, or the folder above it', async (t) => {
    const above = await temporaryFolder(t)
    const path = join(above, 'received')
    await mkdir(path)
    for (const writable of [path, above]) {
      await chmod(writable, 0o777)
      await refuses(path, writable, /can be changed by every user/)
      await chmod(writable, 0o755)
    }
    await new ReceivedFolder(path).save(await blobOf('a'), 'a')
  })

  it('may be anywhere that links of the user lead, also below a folder shared by all', async (t) => {
    const [home, shared] = [await temporaryFolder(t), await temporaryFolder(t)]
    await chmod(shared, 0o1777)
    await mkdir(join(shared, 'disk'))
    await symlink(join(shared, 'disk'), join(home, 'Downloads'))
    await symlink(`../${basename(home)}/Downloads/.`, join(home, 'again'))
    const saved = await new ReceivedFolder(join(home, 'again', 'new')).save(await blobOf('a'), 'a')
    assert.equal(saved, join(home, 'again', 'new', 'a'))
    assert.equal(await readFile(join(shared, 'disk', 'new', 'a'), 'utf8'), 'a')
  })

  it('is not used when it belongs to another user, or the folder above it', asRoot, async (t) => {
    const above = await temporaryFolder(t)
    const path = join(above, 'received')
    await mkdir(path)
    for (const foreign of [path, above]) {
      await chown(foreign, NOBODY, NOBODY)
      await refuses(path, foreign, /belongs to another user/)
      await chown(foreign, 0, 0)
    }
    await new ReceivedFolder(path).save(await blobOf('a'), 'a')
  })

  it('is not looked for where a link of another user leads', asRoot, async (t) => {
    const [shared, own] = [await temporaryFolder(t), await temporaryFolder(t)]
    await chmod(shared, 0o1777)
    const link = join(shared, 'Downloads')
    await symlink(own, link)
    await lchown(link, NOBODY, NOBODY)
    await refuses(join(link, 'received'), link, /belongs to another user/)
    assert.deepEqual(await readdir(own), [])
  })

  it('is not found when links lead in a circle', async (t) => {
    const path = join(await temporaryFolder(t), 'circle')
    await symlink('circle', path)
    await refuses(path, path, /too many links/)
  })

  it('removes at once what an earlier run of the same program left, and nothing of others', async (t) => {
    const path = await temporaryFolder(t)
    const whole = await blobOf('abc')
    const left: string[] = []
    for (const writer of ['one', 'other']) {
      const seen = async (): Promise<never> => {
        const [name = ''] = (await readdir(path)).filter((found) => !left.includes(found))
        left.push(name)
        throw new Error('killed')
      }
      const dying: Blob = { size: whole.size, open: seen }
      await assert.rejects(new ReceivedFolder(path, { writer }).save(dying, 'a'), /killed/)
    }
    for (const name of left) await writeFile(join(path, name), '')
    await new ReceivedFolder(path, { writer: 'one' }).sweep()
    assert.deepEqual(await readdir(path), [left[1]])
    // Where there is no folder yet, none is made.
    const none = join(path, 'none')
    await new ReceivedFolder(none, { writer: 'one' }).sweep()
    await assert.rejects(stat(none), { code: 'ENOENT' })
  })

  it('breaks off what is being written when it is closed, and leaves nothing of it', async (t) => {
    const path = await temporaryFolder(t)
    const folder = new ReceivedFolder(path)
    const whole = await blobOf('abc')
    const film: Blob = {
      size: 2,
      open: async () => ({
        ...(await whole.open()),
        read: async (target) => {
          folder.close()
          return target.fill(1).length
        },
      }),
    }
    await assert.rejects(folder.save(film, 'a'), /is closed/)
    await assert.rejects(folder.save(whole, 'b'), /is closed/)
    assert.deepEqual(await readdir(path), [])
  })

  it('removes what a killed program left a day ago, and nothing else', async (t) => {
    const path = await temporaryFolder(t)
    const unfinished = (digit: string): string => `.clipgate-${digit.repeat(16)}.part`
    const names = [unfinished('0'), unfinished('1'), '.clipgate-mine.part', 'old.txt']
    for (const name of names) await writeFile(join(path, name), '')
    const yesterday = Date.now() / 1000 - 25 * 60 * 60
    for (const name of names.slice(1)) await utimes(join(path, name), yesterday, yesterday)
    await new ReceivedFolder(path).save(await blobOf('a'), 'a')
    const left = (await readdir(path)).toSorted()
    assert.deepEqual(left, [unfinished('0'), '.clipgate-mine.part', 'a', 'old.txt'].toSorted())
  })
})

describe('what other programs can paste of an item', () => {
  it('is a text, an image, or the saved file', async (t) => {
    const { path, folder } = await open(t)
    const blob = await blobOf('bytes')
    const file = await fileItem('a.bin', blob)
    const image = { ...file, type: 'Image', mediaType: 'Image/PNG; charset=binary' } as const
    const text = { item: await textItem('hello'), blob: undefined }
    assert.deepEqual(await folder.offerOf(text), { kind: 'text', text: 'hello' })
    const offered = await folder.offerOf({ item: image, blob })
    assert.ok(offered.kind === 'image' && offered.mediaType === 'image/png')
    assert.equal(offered.blob, blob)
    assert.deepEqual(await readdir(path), [], 'an image is not saved before it is pasted as a file')
    const saved = { kind: 'files', paths: [join(path, 'a.bin')] }
    assert.deepEqual(await folder.offerOf({ item: file, blob }), saved)
    assert.deepEqual(await folder.offerOf({ item: file, blob }), saved, 'not once more')
    assert.equal(await readFile(join(path, 'a.bin'), 'utf8'), 'bytes')
  })

  it('is all files of a batch, also when another item takes its place meanwhile', async (t) => {
    const { path, folder } = await open(t)
    const { store } = await openBlobStore(t)
    const names = Array.from({ length: 20 }, (_, index) => `photo ${index}.jpg`)
    const members = await Promise.all(
      names.map(async (dataName) => {
        return { dataName, blob: await store.receive(streamOf(dataName), { maxBytes: 100 }) }
      }),
    )
    const { blob } = await store.bundle(members, new AbortController().signal)
    const keeping = folder.keep({ item: await groupItem(blob), blob })
    await blob.discard()
    assert.deepEqual(
      await keeping,
      names.map((name) => join(path, name)),
    )
    for (const name of names) assert.equal(await readFile(join(path, name), 'utf8'), name)
  })
})

describe('moveToFreeName()', () => {
  const failWith = (code: string) => (): Promise<void> =>
    Promise.reject(Object.assign(new Error('no links here'), { code }))

  for (const code of ['EPERM', 'EISDIR']) {
    it(`moves a file where a hard link is ${code}, and never onto another one`, async (t) => {
      const path = await temporaryFolder(t)
      const [from, to] = [join(path, 'from'), join(path, 'to')]
      await writeFile(from, 'new')
      assert.equal(await moveToFreeName(from, to, failWith(code)), true)
      assert.equal(await readFile(to, 'utf8'), 'new')
      await writeFile(from, 'newer')
      assert.equal(await moveToFreeName(from, to, failWith(code)), false)
      assert.equal(await readFile(to, 'utf8'), 'new')
      assert.deepEqual((await readdir(path)).toSorted(), ['from', 'to'])
    })
  }

  it('says what else went wrong', async (t) => {
    const path = await temporaryFolder(t)
    const missing = join(path, 'missing')
    await assert.rejects(moveToFreeName(missing, join(path, 'a')), { code: 'ENOENT' })
    const nowhere = moveToFreeName(missing, join(path, 'b', 'a'), failWith('EPERM'))
    await assert.rejects(nowhere, { code: 'ENOENT' })
  })

  it('leaves no name taken where a folder without hard links does not rename', async (t) => {
    const path = await temporaryFolder(t)
    const moved = moveToFreeName(join(path, 'missing'), join(path, 'a'), failWith('EPERM'))
    await assert.rejects(moved, { code: 'ENOENT' })
    assert.deepEqual(await readdir(path), [])
  })
})
