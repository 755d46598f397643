import assert from 'node:assert/strict'
import { mkdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createCopySharing } from '../../src/inbound/share-copies.ts'
import type { DiskBlob } from '../../src/storage/blobs/disk-blob.ts'
import type { AppliedItem, InboundItem } from '../../src/ports/inbound-pipeline.ts'
import { streamOf } from '../support/byte-streams.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { defer } from '../support/defer.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { openBlobStore } from '../storage/support/open-stores.ts'
import { temporaryFile } from '../support/temporary-folder.ts'

/** The name of a Group that can have none of a folder. */
const OWN_NAME = 'clipboard-20260131-123456.zip'

const DONE: AppliedItem = { contentId: 'blake3v1:00', item: undefined }

async function setUp(t: TestContext, apply = async () => DONE) {
  const { store: blobs, count } = await openBlobStore(t)
  const applied: InboundItem[] = []
  const logger = new CaptureLogger()
  const inbound = {
    apply: (item: InboundItem): Promise<AppliedItem> => {
      applied.push(item)
      return apply()
    },
  }
  const share = createCopySharing({ blobs, inbound, clock: new FakeClock(), logger })
  return { blobs, count, applied, logger, share }
}

describe('a copy on the desktop', () => {
  it('is shared as a Text, or as an Image with a name that tells when', async (t) => {
    const { share, applied } = await setUp(t)
    await share({ kind: 'text', text: 'hello' })
    await share({ kind: 'image', mediaType: 'image/png', bytes: Buffer.from('png') })
    const name = 'clipboard-20260131-123456.png'
    const shared = applied.map(({ type, text, dataName, origin }) => [
      type,
      text,
      dataName,
      origin.kind,
    ])
    assert.deepEqual(shared, [
      ['Text', 'hello', '', 'clipboard'],
      ['Image', name, name, 'clipboard'],
    ])
  })

  // Protocol: A file copied on the desktop is read there
  it('is shared as a File that stays where it is', async (t) => {
    const { share, applied } = await setUp(t)
    await share({ kind: 'files', paths: [await temporaryFile(t, 'a\\b.png', 'not really')] })
    const [item] = applied
    assert.deepEqual([item?.type, item?.dataName], ['File', 'a_b.png'])
    assert.equal(item?.bytes.kind === 'received' && item.bytes.mediaType, 'image/png')
  })

  it('is shared as a Group when it is of several files, or of a folder', async (t) => {
    const { share, applied, logger } = await setUp(t)
    const path = await temporaryFile(t, 'a.txt', 'not really')
    const folder = join(dirname(path), 'Ölbilder.2025')
    const longest = join(dirname(path), 'x'.repeat(255))
    for (const made of [folder, longest]) await mkdir(made)
    for (const paths of [[folder], [folder, path], [longest]]) await share({ kind: 'files', paths })
    const shared = applied.map(({ type, text, dataName, bytes }) => {
      return [type, text, dataName, bytes.kind === 'received' && bytes.mediaType]
    })
    const names = ['Ölbilder.2025.zip', OWN_NAME, OWN_NAME]
    assert.deepEqual(
      shared,
      names.map((name) => ['Group', name, name, 'application/zip']),
    )
    assert.equal(logger.text, '')
  })

  it('says so when it is gone, or not all of it can be shared, without naming it', async (t) => {
    const { share, applied, logger } = await setUp(t)
    await share({ kind: 'files', paths: ['/nowhere/at/all'] })
    await share({ kind: 'files', paths: ['/nowhere/at/all', '/nowhere/else'] })
    assert.deepEqual([applied, logger.lines.map(({ level }) => level)], [[], ['warn', 'warn']])

    const path = await temporaryFile(t, 'secret.txt', 'not really')
    await symlink(path, `${path}.link`)
    await share({ kind: 'files', paths: [path, `${path}.link`, '/nowhere/at/all'] })
    assert.equal(applied.map(({ type }) => type).join(), 'Group')
    const lines = logger.lines.slice(2).map(({ level, fields }) => ({ level, ...fields }))
    assert.deepEqual(lines, [
      { level: 'warn', unreadable: 1 },
      { level: 'info', count: 1 },
    ])
    assert.doesNotMatch(logger.text, /nowhere|secret/)
  })

  it('leaves no bytes behind when it cannot be stored', async (t) => {
    const { share, count, logger } = await setUp(t, () => Promise.reject(new Error('disk full')))
    await share({ kind: 'image', mediaType: 'image/png', bytes: Buffer.from('png') })
    assert.equal(await count(), 0)
    assert.match(logger.text, /disk full/)
  })

  it('is given up when something else is copied before it was read', async (t) => {
    const { share, blobs, count, applied, logger } = await setUp(t)
    const begun = defer<void>()
    const slow = defer<DiskBlob>()
    t.mock.method(blobs, 'adopt', () => {
      begun.resolve()
      return slow.promise
    })
    const first = share({ kind: 'files', paths: ['/big'] })
    await begun.promise
    await share({ kind: 'text', text: 'newer' })
    slow.resolve(await blobs.receive(streamOf('big'), { maxBytes: 10 }))
    await first
    assert.equal(applied.map(({ text }) => text).join(), 'newer')
    assert.equal(await count(), 0)
    assert.equal(logger.text, '')
  })
})
