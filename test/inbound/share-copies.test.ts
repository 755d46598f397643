import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createCopySharing } from '../../src/inbound/share-copies.ts'
import type { HashedBlob } from '../../src/ports/blob.ts'
import type { AppliedItem, InboundItem } from '../../src/ports/inbound-pipeline.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
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
    assert.deepEqual(applied.map(({ type, text, origin }) => [type, text, origin.kind]), [
      ['Text', 'hello', 'clipboard'],
    ])
  })

  it('is shared as an Image with a name that tells when', async () => {
    const { share, applied } = setUp()
    await share({ kind: 'image', mediaType: 'image/png', bytes: Buffer.from('png') })
    assert.deepEqual(applied.map(({ type, dataName }) => [type, dataName]), [
      ['Image', 'clipboard-20260131-123456.png'],
    ])
  })

  it('is shared as a File that stays where it is', async (t) => {
    const { share, applied } = setUp()
    await share({ kind: 'files', paths: [await fileIn(t, 'a\\b.png', 'not really')] })
    const [item] = applied
    assert.deepEqual([item?.type, item?.dataName], ['File', 'a_b.png'])
    assert.equal(item?.bytes.kind === 'received' && item.bytes.mediaType, 'image/png')
  })

  it('says so when it is of several files, or of one that is gone', async () => {
    const { share, applied, logger } = setUp()
    await share({ kind: 'files', paths: ['/a', '/b'] })
    await share({ kind: 'files', paths: ['/nowhere/at/all'] })
    assert.deepEqual(applied, [])
    assert.deepEqual(logger.lines.map(({ level }) => level), ['warn', 'warn'])
    assert.doesNotMatch(logger.text, /nowhere/)
  })

  it('leaves no bytes behind when it cannot be stored', async () => {
    const { share, blobs, logger } = setUp({ apply: () => Promise.reject(new Error('disk full')) })
    await share({ kind: 'image', mediaType: 'image/png', bytes: Buffer.from('png') })
    assert.equal(blobs.count, 0)
    assert.match(logger.text, /disk full/)
  })

  it('is given up when something else is copied before it was read', async (t) => {
    const { share, blobs, applied, logger } = setUp()
    let slow: ((blob: HashedBlob) => void) | undefined
    t.mock.method(blobs, 'adopt', () => new Promise<HashedBlob>((resolve) => (slow = resolve)))
    const first = share({ kind: 'files', paths: ['/big'] })
    await share({ kind: 'text', text: 'newer' })
    slow?.(await blobs.receive(only('big'), { maxBytes: 10 }))
    await first
    assert.deepEqual(applied.map(({ text }) => text), ['newer'])
    assert.equal(blobs.count, 0)
    assert.equal(logger.text, '')
  })
})

async function* only(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
