import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import {
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  unlink,
  utimes,
  writeFile,
  type FileHandle,
} from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { digestsOf, type FileHash, FileHasher } from '../../src/hashing/file-hasher.ts'
import type { DiskBlobStore } from '../../src/storage/blobs/disk-blob-store.ts'
import { brokenStream, readBlob, readText, streamOf } from '../support/byte-streams.ts'
import { defer } from '../support/defer.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { openBlobStore } from './support/open-stores.ts'
import { execute } from '../support/execute.ts'

const KIB = 1024
const MIB = 1024 * KIB
const LIMIT = { maxBytes: 64 * MIB }
const NEVER = new AbortController().signal

/** A store that calls `onStart` when it begins to hash. */
async function openInterrupted(t: TestContext, onStart: () => void): Promise<DiskBlobStore> {
  class InterruptedHasher extends FileHasher {
    override start(file: FileHandle): FileHash {
      onStart()
      return super.start(file)
    }
  }
  const clock = new FakeClock()
  return (await openBlobStore(t, clock, new InterruptedHasher({ clock }))).store
}

describe('blobs on disk', () => {
  it('are private files of random names, whatever the umask', async (t) => {
    const { store, folder } = await openBlobStore(t)
    const before = process.umask(0o777)
    try {
      await store.receive(streamOf('hello'), LIMIT)
    } finally {
      process.umask(before)
    }
    await store.receive(streamOf('hello'), LIMIT)
    const names = await readdir(folder)
    assert.equal(names.length, 2)
    for (const name of names) {
      assert.match(name, /^[0-9a-f]{32}$/)
      assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600)
    }
  })

  it('take chunks of a byte each', async (t) => {
    const { store } = await openBlobStore(t)
    const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, i) => i % 251))
    const chunks = Array.from(bytes, (byte) => Uint8Array.of(byte))
    const blob = await store.receive(streamOf(...chunks), LIMIT)
    assert.equal(bytes.equals(await readBlob(blob)), true)
    assert.deepEqual(blob.digests, await digestsOf(bytes))
  })

  it('are written while they come when many come at once, instead of being held', async (t) => {
    const { store, folder } = await openBlobStore(t)
    const { promise: wait, resolve: finish } = defer<void>()
    async function* slow(): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < 3; i++) yield Buffer.alloc(100 * KIB, i)
      await wait
      yield Buffer.from('end')
    }
    const uploads = Array.from({ length: 30 }, () => store.receive(slow(), LIMIT))
    const written = async (): Promise<number> => {
      const names = await readdir(folder)
      const files = await Promise.all(names.map((name) => stat(join(folder, name))))
      return files.reduce((sum, { size }) => sum + size, 0)
    }
    // At most 2 MiB of the 9 MB that were sent are in memory.
    while ((await written()) < 30 * 300 * KIB - 2 * MIB) continue
    finish()
    const blobs = await Promise.all(uploads)
    assert.equal(new Set(blobs.map(({ digests }) => digests.blake3)).size, 1)
    const content = Buffer.concat([0, 1, 2].map((i) => Buffer.alloc(100 * KIB, i)))
    const expected = Buffer.concat([content, Buffer.from('end')])
    for (const blob of blobs) assert.equal(expected.equals(await readBlob(blob)), true)
  })

  it('that never arrived whole occupy nobody any more', async (t) => {
    const { store, hasher, clock } = await openBlobStore(t)
    const error = new Error('the client is gone')
    const broken = brokenStream(error, 'x'.repeat(3 * MIB))
    await assert.rejects(store.receive(broken, LIMIT), error)
    clock.advance(60_000)
    assert.equal(hasher.isRunning, false)
  })

  it('are gone when they become shorter, also while they are read', async (t) => {
    const { store, folder } = await openBlobStore(t)
    const blob = await store.receive(streamOf('hello'), LIMIT)
    const file = await blob.open()
    const [name = ''] = await readdir(folder)
    await truncate(join(folder, name), 2)
    await assert.rejects(file.read(Buffer.alloc(5), 0), { code: 'BLOB_GONE' })
    await file.close()
    await assert.rejects(blob.open(), { code: 'BLOB_GONE' })
  })

  it('that cannot be removed are named in the log, and fail nobody', async (t) => {
    const { store, folder, logger } = await openBlobStore(t)
    const blob = await store.receive(streamOf('hello'), LIMIT)
    const [name = ''] = await readdir(folder)
    await rm(join(folder, name))
    await mkdir(join(folder, name))
    await blob.discard()
    assert.equal(logger.text.includes(name), true)
  })
})

describe('files of the user', () => {
  async function makeFile(t: TestContext, content = 'hello'): Promise<string> {
    const path = join(await temporaryFolder(t), 'mine')
    await writeFile(path, content)
    // Clocks of file systems tick slowly: what is written next must be later.
    await utimes(path, 1, 1)
    return path
  }

  async function adopt(t: TestContext, store: DiskBlobStore, content?: string) {
    const path = await makeFile(t, content)
    return { path, blob: await store.adopt(path, NEVER) }
  }

  it('are hashed where they are, and never removed', async (t) => {
    const { store, count } = await openBlobStore(t)
    for (const content of ['', 'hello', 'x'.repeat(3_000_000)]) {
      const { path, blob } = await adopt(t, store, content)
      assert.deepEqual(blob.digests, await digestsOf(Buffer.from(content)))
      assert.equal(await readText(blob), content)
      assert.equal(await count(), 0)
      await blob.discard()
      await assert.rejects(blob.open(), { code: 'BLOB_GONE' })
      assert.equal(await readFile(path, 'utf8'), content)
    }
  })

  it('may be reached through links', async (t) => {
    const { store } = await openBlobStore(t)
    const path = await makeFile(t)
    await symlink(path, `${path}.link`)
    assert.equal(await readText(await store.adopt(`${path}.link`, NEVER)), 'hello')
  })

  it(
    'are refused when they are missing, folders or pipes, without being named',
    needs('mkfifo'),
    async (t) => {
      const { store } = await openBlobStore(t)
      const path = await makeFile(t)
      await mkdir(`${path}.folder`)
      await execute('mkfifo', [`${path}.pipe`])
      for (const wrong of ['missing', 'folder', 'pipe']) {
        await assert.rejects(store.adopt(`${path}.${wrong}`, NEVER), (error: Error) => {
          assert.equal('code' in error && error.code, 'BLOB_GONE')
          assert.equal(error.message.includes('mine'), false)
          return true
        })
      }
    },
  )

  it('are gone once they were written to, cut off or removed', async (t) => {
    const { store } = await openBlobStore(t)
    for (const change of [(path: string) => writeFile(path, 'jello'), truncate, unlink]) {
      const { path, blob } = await adopt(t, store)
      await change(path)
      await assert.rejects(blob.open(), { code: 'BLOB_GONE' })
    }
  })

  for (const content of ['jello', 'hello world', 'he']) {
    it(`are refused when they become "${content}" while they are hashed`, async (t) => {
      const path = await makeFile(t)
      const store = await openInterrupted(t, () => writeFileSync(path, content))
      await assert.rejects(store.adopt(path, NEVER), { code: 'BLOB_GONE' })
    })
  }

  it('are left when nobody wants them any more, before and while they are hashed', async (t) => {
    const path = await makeFile(t)
    const controller = new AbortController()
    const reason = new Error('something else was copied')
    const store = await openInterrupted(t, () => controller.abort(reason))
    await assert.rejects(store.adopt(path, controller.signal), reason)
    await assert.rejects(store.adopt(`${path}.missing`, controller.signal), reason)
  })

  it('are found out when somebody writes to them while they are sent', async (t) => {
    const { store } = await openBlobStore(t)
    const { path, blob } = await adopt(t, store)
    const file = await blob.open()
    const target = Buffer.alloc(3)
    assert.equal(await file.read(target, 0), 3)
    await writeFile(path, 'jello')
    await assert.rejects(file.read(target, 3), { code: 'BLOB_GONE' })
    await file.close()
  })

  it('are found out when somebody writes to them before a part is sent', async (t) => {
    const { store } = await openBlobStore(t)
    const { path, blob } = await adopt(t, store)
    const file = await blob.open()
    await writeFile(path, 'jello')
    await assert.rejects(file.read(Buffer.alloc(3), 0), { code: 'BLOB_GONE' })
    await file.close()
  })

  it('may be renamed while they are sent', async (t) => {
    const { store } = await openBlobStore(t)
    const { path, blob } = await adopt(t, store)
    const file = await blob.open()
    await rm(path)
    const target = Buffer.alloc(5)
    assert.equal(await file.read(target, 0), 5)
    assert.equal(target.toString(), 'hello')
    await file.close()
    await assert.rejects(readText(blob), { code: 'BLOB_GONE' })
  })
})
