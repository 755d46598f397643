import assert from 'node:assert/strict'
import {
  chmod,
  chown,
  mkdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { MAX_METADATA_BYTES, MAX_NAME_TEXT_BYTES } from '../../src/core/limits.ts'
import { preparedBytes } from '../../src/lib/long-text.ts'
import { readText, streamOf } from '../support/byte-streams.ts'
import { fileItem, groupItem, textItem } from '../support/latest-item-contract.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import {
  bytesOf,
  openTestStorage,
  pathOfBlob,
  putFile,
  type OpenedStorage,
} from './support/open-stores.ts'

interface Paths {
  readonly item: string
  readonly blob: string
}

const isRoot = process.geteuid?.() === 0
const NEVER = new AbortController().signal

/** Makes a file of the user the item. @returns Its path and its blob. */
async function adoptFile(t: TestContext, { blobs, latest }: OpenedStorage, changed?: Date) {
  const path = await temporaryFile(t, 'mine.txt', 'hello')
  if (changed !== undefined) await utimes(path, changed, changed)
  const blob = await blobs.adopt(path, NEVER)
  await latest.put(await fileItem('mine.txt', blob), blob)
  return { path, blob }
}

describe('the item on disk', () => {
  it('survives a restart, with its bytes and all that is known of it', async (t) => {
    const storage = await openTestStorage(t)
    await putFile(storage, 'hello')
    const { current } = storage.latest
    const again = await storage.restart()
    assert.deepEqual(again.latest.current?.item, current?.item)
    assert.equal(again.latest.current, again.latest.binary)
    assert.equal(String(await bytesOf(again)), 'hello')
    // The bytes can become current again, and stay.
    const item = again.latest.binary?.item
    assert.ok(item)
    await again.latest.put({ ...item, activatedAt: 1 }, again.latest.binary?.blob)
    assert.equal(String(await bytesOf(await again.restart())), 'hello')
  })

  it('survives a restart when it is a Text, beside the latest bytes', async (t) => {
    const storage = await openTestStorage(t)
    await putFile(storage, 'hello')
    const item = await textItem(`"\u0000\\ 写真 🧀 \u2028${'x'.repeat(100_000)}`)
    await storage.latest.put(item, undefined)
    const again = await storage.restart()
    assert.deepEqual(again.latest.current, { item, blob: undefined })
    // Its first reader stops nobody, however long it is.
    const { length } = Buffer.from(JSON.stringify(item.text))
    assert.equal(preparedBytes(again.latest.current?.item ?? { text: '' }), length)
    assert.equal(String(await bytesOf(again)), 'hello')
    assert.equal((await again.blobFiles()).length, 1)
  })

  it('survives a restart beside those that are still to be saved as files', async (t) => {
    const storage = await openTestStorage(t)
    const [photo, film] = await Promise.all(
      ['photo', 'film'].map((text) => storage.blobs.receive(streamOf(text), { maxBytes: 10 })),
    )
    assert.ok(photo !== undefined && film !== undefined)
    const pair = [photo, film].map((blob) => ({ dataName: 'a', blob }))
    const { blob: group } = await storage.blobs.bundle(pair, NEVER)
    const copy = await storage.blobs.receive(streamOf('film'), { maxBytes: 10 })
    const [both, last] = [await groupItem(group), await fileItem('last', copy)]
    await storage.latest.put({ ...both, activatedAt: 1 }, group, { isToSave: true })
    await storage.latest.put({ ...last, activatedAt: 2 }, copy, { isToSave: true })
    await storage.latest.put(await textItem('text'), undefined)

    const again = await storage.restart()
    const [first, second] = again.latest.unsaved
    assert.ok(first !== undefined && second !== undefined)
    assert.deepEqual([first.item.activatedAt, second.item.activatedAt], [1, 2])
    const members = first.blob?.members ?? []
    const texts = await Promise.all(members.map(({ blob }) => readText(blob)))
    assert.deepEqual(texts, ['photo', 'film'])
    await again.latest.endSaving(second)
    await again.latest.endSaving(first)
    assert.equal(again.latest.current?.item.text, 'text')
    assert.equal((await again.blobFiles()).length, 1)
    assert.deepEqual((await again.restart()).latest.unsaved, [])
  })

  it('has one blob after a restart, also when it is still to be saved as a file', async (t) => {
    const storage = await openTestStorage(t)
    const blob = await storage.blobs.receive(streamOf('film'), { maxBytes: 10 })
    await storage.latest.put(await fileItem('film', blob), blob, { isToSave: true })
    const { latest } = await storage.restart()
    assert.ok(latest.binary !== undefined && latest.unsaved.length === 1)
    assert.equal(latest.unsaved[0]?.blob, latest.binary.blob)
  })

  it('is private, and made private again', async (t) => {
    const storage = await openTestStorage(t)
    await putFile(storage, 'hello')
    const files = [join(storage.folder, 'item.json'), await pathOfBlob(storage)]
    for (const file of files) assert.equal((await stat(file)).mode & 0o777, 0o600)
    await storage.restart(async () => {
      for (const file of files) await chmod(file, 0o644)
    })
    for (const file of files) assert.equal((await stat(file)).mode & 0o777, 0o600)
  })

  for (const changed of [undefined, new Date('1969-07-20')]) {
    const when = changed === undefined ? 'of now' : 'from before 1970'
    it(`may be a file of the user ${when}, also after a restart, and never removes it`, async (t) => {
      const storage = await openTestStorage(t)
      const { path } = await adoptFile(t, storage, changed)
      const again = await storage.restart()
      assert.equal(String(await bytesOf(again)), 'hello')
      await putFile(again, 'other')
      assert.equal(await readFile(path, 'utf8'), 'hello')
    })
  }

  it('stays, without its bytes, when the user changed or removed the file', async (t) => {
    for (const change of [unlink, (path: string) => utimes(path, 1, 1)]) {
      const storage = await openTestStorage(t)
      const { path } = await adoptFile(t, storage)
      const again = await storage.restart(() => change(path))
      assert.equal(again.latest.current?.item.dataName, 'mine.txt')
      await assert.rejects(bytesOf(again), { code: 'BLOB_GONE' })
    }
  })

  it('is not read through a link that took the place of its bytes', async (t) => {
    const storage = await openTestStorage(t)
    await putFile(storage, 'hello')
    const path = await pathOfBlob(storage)
    await rename(path, `${path}.real`)
    await symlink(`${path}.real`, path)
    await assert.rejects(bytesOf(storage), { code: 'BLOB_GONE' })
    await rm(path)
    await writeFile(path, 'jello')
    await assert.rejects(bytesOf(storage), { code: 'BLOB_GONE' })
  })

  it('is left out when its text is longer than any may be, as earlier versions let it be', async (t) => {
    const storage = await openTestStorage(t)
    await putFile(storage, 'hello')
    await storage.latest.put(await textItem('x'.repeat(MAX_METADATA_BYTES + 1)), undefined)
    const again = await storage.restart()
    assert.equal(again.latest.current?.item.dataName, 'a.txt')
    assert.equal(String(await bytesOf(again)), 'hello')
    assert.equal(again.logger.lines.filter(({ level }) => level === 'warn').length, 1)

    const { item, blob } = again.latest.current ?? {}
    assert.ok(item)
    await again.latest.put({ ...item, text: '中'.repeat(MAX_METADATA_BYTES / 2) }, blob)
    const last = await again.restart()
    assert.equal(last.latest.current?.item.text, '中'.repeat(1365))
    assert.equal(String(await bytesOf(last)), 'hello')
  })

  it('gets rid of the long text that an earlier version kept with a file, at the start', async (t) => {
    const storage = await openTestStorage(t)
    await putFile(storage, 'hello')
    const { item, blob } = storage.latest.current ?? {}
    assert.ok(item)
    await storage.latest.put({ ...item, text: '\u0001'.repeat(2_000_000) }, blob)
    await storage.latest.put(await textItem('short'), undefined)
    const path = join(storage.folder, 'item.json')
    assert.ok((await stat(path)).size > 12_000_000)
    const again = await storage.restart()
    assert.equal(again.latest.current?.item.text, 'short')
    assert.equal(again.latest.binary?.item.text, '\u0001'.repeat(MAX_NAME_TEXT_BYTES))
    assert.ok((await stat(path)).size < 30_000)
    assert.equal(String(await bytesOf(await again.restart())), 'hello')
  })

  it('stays as it is when the new one cannot be written', async (t) => {
    const storage = await openTestStorage(t)
    await putFile(storage, 'hello')
    // A folder cannot be replaced by a file.
    const path = join(storage.folder, 'item.json')
    const content = await readFile(path)
    await rm(path)
    await mkdir(path)
    await assert.rejects(storage.latest.put(await textItem('text'), undefined))
    assert.equal(storage.latest.current?.item.dataName, 'a.txt')
    await rm(path, { recursive: true })
    await writeFile(path, content)
    assert.equal(String(await bytesOf(await storage.restart())), 'hello')
  })

  describe('refuses the start, and is left as it is', () => {
    async function refuses(
      t: TestContext,
      spoil: (paths: Paths) => Promise<void>,
      code = 'DATA_CORRUPT',
    ): Promise<void> {
      const storage = await openTestStorage(t)
      await putFile(storage, 'hello')
      await storage.latest.put(await textItem('correct horse'), undefined)
      const paths = { item: join(storage.folder, 'item.json'), blob: await pathOfBlob(storage) }
      const look = () => Promise.all([readFile(paths.item, 'latin1'), storage.blobFiles()])
      let spoilt: readonly unknown[] = []
      const restart = storage.restart(async () => {
        await spoil(paths)
        spoilt = await look()
      })
      await assert.rejects(restart, (error: Error) => {
        assert.equal('code' in error && error.code, code)
        assert.match(error.message, /item\.json|blobs[\\/][0-9a-f]{32}/)
        assert.match(error.message, /; /)
        assert.doesNotMatch(`${error.stack} ${String(error.cause)}`, /correct horse/)
        return true
      })
      assert.deepEqual(await look(), spoilt)
    }

    const SPOILT: Readonly<Record<string, (paths: Paths) => Promise<void>>> = {
      'it is empty': ({ item }) => writeFile(item, ''),
      'it is not UTF-8': ({ item }) => writeFile(item, '{"version":1,"text":"\xff"}', 'latin1'),
      'it is of a later version': ({ item }) => writeFile(item, '{"version":3}'),
      'it is cut off': ({ item }) => truncate(item, 300),
      'its bytes are missing': ({ blob }) => unlink(blob),
      'its bytes are cut off': ({ blob }) => truncate(blob, 2),
    }
    for (const [what, spoil] of Object.entries(SPOILT)) {
      it(`when ${what}`, (t) => refuses(t, spoil))
    }

    it('when it is a link', async (t) => {
      const link = async ({ item }: Paths): Promise<void> => {
        await rename(item, `${item}.real`)
        await symlink(`${item}.real`, item)
      }
      await refuses(t, link, 'DATA_DIRECTORY_UNUSABLE')
    })

    const asRoot = { skip: isRoot ? false : 'skipped: needs root' }
    it('when it, or its bytes, belong to another user', asRoot, async (t) => {
      await refuses(t, ({ item }) => chown(item, 65_534, 65_534), 'DATA_DIRECTORY_UNUSABLE')
      await refuses(t, ({ blob }) => chown(blob, 65_534, 65_534), 'DATA_DIRECTORY_UNUSABLE')
    })
  })
})
