import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createCopySharing } from '../../src/inbound/share-copies.ts'
import type { HashedBlob } from '../../src/ports/blob.ts'
import type { AppliedItem, InboundItem } from '../../src/ports/inbound-pipeline.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { defer } from '../support/defer.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { MemoryBlobStore } from '../support/memory-blob-store.ts'

const DONE: AppliedItem = { contentId: 'blake3v1:00', item: undefined }

function setUp({ apply = async () => DONE } = {}) {
  const blobs = new MemoryBlobStore()
  const applied: InboundItem[] = []
  const logger = new CaptureLogger()
  const inbound = {
    apply: (item: InboundItem): Promise<AppliedItem> => {
      applied.push(item)
      return apply()
    },
  }
  const share = createCopySharing({ blobs, inbound, clock: new FakeClock(), logger })
  return { blobs, applied, logger, share }
}

async function fileIn(t: TestContext, name: string, content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'clipgate-share-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

describe('a copy on the desktop', () => {
  it('is shared as a Text', async () => {
    const { share, applied } = setUp()
    await share({ kind: 'text', text: 'hello' })
    assert.deepEqual(
      applied.map(({ type, text, origin }) => [type, text, origin.kind]),
      [['Text', 'hello', 'clipboard']],
    )
  })

  it('is shared as an Image with a name that tells when', async () => {
    const { share, applied } = setUp()
    await share({ kind: 'image', mediaType: 'image/png', bytes: Buffer.from('png') })
    assert.deepEqual(
      applied.map(({ type, dataName }) => [type, dataName]),
      [['Image', 'clipboard-20260131-123456.png']],
    )
  })

  it('is shared as a File that stays where it is', async (t) => {
    const { share, applied } = setUp()
    await share({ kind: 'files', paths: [await fileIn(t, 'a\\b.png', 'not really')] })
    const [item] = applied
    assert.deepEqual([item?.type, item?.dataName], ['File', 'a_b.png'])
    assert.equal(item?.bytes.kind === 'received' && item.bytes.mediaType, 'image/png')
  })

  it('is shared as a Group when it is of several files, or of a folder', async (t) => {
    const { share, applied, logger } = setUp()
    const path = await fileIn(t, 'a.txt', 'not really')
    const folder = join(dirname(path), 'Ölbilder.2025')
    await mkdir(folder)
    await share({ kind: 'files', paths: [folder] })
    await share({ kind: 'files', paths: [folder, path] })
    assert.deepEqual(
      applied.map(({ type, text, dataName }) => [type, text, dataName]),
      [
        ['Group', 'Ölbilder.2025.zip', 'Ölbilder.2025.zip'],
        ['Group', 'clipboard-20260131-123456.zip', 'clipboard-20260131-123456.zip'],
      ],
    )
    const types = applied.map(({ bytes }) => bytes.kind === 'received' && bytes.mediaType)
    assert.deepEqual(types, ['application/zip', 'application/zip'])
    assert.equal(logger.text, '')
  })

  it('has a name of its own when that of the folder is too long', async (t) => {
    const { share, applied } = setUp()
    const path = await fileIn(t, 'a.txt', 'not really')
    const folder = join(dirname(path), 'x'.repeat(255))
    await mkdir(folder)
    await share({ kind: 'files', paths: [folder] })
    assert.deepEqual(
      applied.map(({ dataName }) => dataName),
      ['clipboard-20260131-123456.zip'],
    )
  })

  it('says so when it is gone, or not all of it can be shared, without naming it', async (t) => {
    const { share, applied, logger } = setUp()
    await share({ kind: 'files', paths: ['/nowhere/at/all'] })
    await share({ kind: 'files', paths: ['/nowhere/at/all', '/nowhere/else'] })
    assert.deepEqual(applied, [])
    assert.deepEqual(
      logger.lines.map(({ level }) => level),
      ['warn', 'warn'],
    )

    const path = await fileIn(t, 'secret.txt', 'not really')
    await symlink(path, `${path}.link`)
    await share({ kind: 'files', paths: [path, `${path}.link`, '/nowhere/at/all'] })
    assert.deepEqual(
      applied.map(({ type }) => type),
      ['Group'],
    )
    const [, , ...lines] = logger.lines
    assert.deepEqual(
      lines.map(({ level, fields }) => [level, fields]),
      [
        ['warn', { unreadable: 1 }],
        ['info', { count: 1 }],
      ],
    )
    assert.doesNotMatch(logger.text, /nowhere|secret/)
  })

  it('leaves no bytes behind when it cannot be stored', async () => {
    const { share, blobs, logger } = setUp({ apply: () => Promise.reject(new Error('disk full')) })
    await share({ kind: 'image', mediaType: 'image/png', bytes: Buffer.from('png') })
    assert.equal(blobs.count, 0)
    assert.match(logger.text, /disk full/)
  })

  it('is given up when something else is copied before it was read', async (t) => {
    const { share, blobs, applied, logger } = setUp()
    const begun = defer<void>()
    const slow = defer<HashedBlob>()
    t.mock.method(blobs, 'adopt', () => {
      begun.resolve()
      return slow.promise
    })
    const first = share({ kind: 'files', paths: ['/big'] })
    await begun.promise
    await share({ kind: 'text', text: 'newer' })
    slow.resolve(await blobs.receive(only('big'), { maxBytes: 10 }))
    await first
    assert.deepEqual(
      applied.map(({ text }) => text),
      ['newer'],
    )
    assert.equal(blobs.count, 0)
    assert.equal(logger.text, '')
  })
})

async function* only(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
