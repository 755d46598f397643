import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { ChangeHub } from '../../src/inbound/change-hub.ts'
import { ClipboardPipeline } from '../../src/inbound/clipboard-pipeline.ts'
import { RememberedItems } from '../../src/inbound/remembered-items.ts'
import { MAX_RECENT_BYTES, MIB } from '../../src/core/limits.ts'
import { readWhole } from '../../src/lib/read-bytes.ts'
import type { InboundItem, Origin } from '../../src/ports/inbound-pipeline.ts'
import type { LatestItem, StoredItem } from '../../src/ports/latest-item.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { blobOf, memoryBlobs } from '../support/memory-blob.ts'
import fc, { forAllAsync } from '../support/property.ts'

const COPY: Origin = { kind: 'clipboard' }
const PHONE = { kind: 'device', deviceId: 'did_1' } as const
const OWNER = { kind: 'device', deviceId: 'owner' } as const

function setUp(most = 20, maxBytes: number = MAX_RECENT_BYTES) {
  let current: StoredItem | undefined
  // No disk: thousands of items come here.
  const latest: LatestItem = {
    get current() {
      return current
    },
    binary: undefined,
    unsaved: [],
    prepare: async () => undefined,
    put: async (item, blob) => (current = { item, blob }),
    endSaving: async () => undefined,
  }
  const clock = new FakeClock()
  const logger = new CaptureLogger()
  const devices = { list: () => [] }
  const inbound = new ClipboardPipeline({
    staging: { take: () => undefined, takeBatch: () => undefined },
    latest,
    changes: new ChangeHub(logger),
    clock,
    logger,
  })
  const recent = new RememberedItems({
    inbound,
    blobs: memoryBlobs,
    devices,
    logger,
    most,
    maxBytes,
    owner: OWNER,
  })
  let added: Promise<void>[] = []
  inbound.addEffect((stored) => {
    const work = recent.add(stored)
    added.push(work)
    return work
  })

  /** Resolves when everything has been remembered that was pushed. */
  async function settle(): Promise<void> {
    // Effects begin behind the answer.
    await new Promise((resolve) => setImmediate(resolve))
    await Promise.all(added)
    added = []
  }

  async function push(item: Partial<InboundItem>, origin: Origin = PHONE): Promise<void> {
    clock.advance(1000)
    const whole = {
      type: 'Text',
      text: '',
      dataName: '',
      hash: '',
      bytes: { kind: 'none' },
    } as const
    await inbound.apply({ ...whole, ...item, origin })
    await settle()
  }

  async function pushBytes(type: 'Image' | 'File' | 'Group', dataName: string, bytes: Uint8Array) {
    const blob = await blobOf(bytes)
    await push({
      type,
      text: dataName,
      dataName,
      bytes: { kind: 'received', blob, mediaType: 'a/b' },
    })
  }

  const listed = () =>
    recent.list.map(({ type, text, dataName }) => (type === 'Text' ? text : dataName))
  return { recent, latest, push, pushBytes, listed, settle, clock }
}

describe('RememberedItems', () => {
  it('brings back what was copied, after a push took its place', async () => {
    const { recent, latest, push, listed, settle, clock } = setUp()
    await push({ text: 'an address that I copied' }, COPY)
    await push({ text: '12 34 56' })
    assert.deepEqual(listed(), ['12 34 56', 'an address that I copied'])
    const senders = recent.list.map(({ sender }) => sender)
    assert.deepEqual(senders, [
      { kind: 'device', deviceId: 'did_1' },
      { kind: 'clipboard', deviceId: undefined },
    ])
    clock.advance(1000)
    assert.equal(await recent.activate(recent.list[1]?.id ?? ''), true)
    await settle()
    assert.equal(latest.current?.item.text, 'an address that I copied')
    assert.deepEqual(listed(), ['an address that I copied', '12 34 56'])
    assert.ok(latest.current !== undefined)
    assert.deepEqual(latest.current.item.sender, OWNER)
  })

  it('brings bytes back that are nowhere else any more', async () => {
    const { recent, latest, push, pushBytes, listed, settle } = setUp()
    const bytes = randomBytes(MIB)
    await pushBytes('File', 'a.pdf', bytes)
    await pushBytes('File', 'b.pdf', randomBytes(10))
    await push({ text: 'x' })
    assert.equal(await recent.activate(recent.list[2]?.id ?? ''), true)
    await settle()
    const { item, blob } = latest.current ?? {}
    assert.deepEqual([item?.type, item?.dataName, item?.mediaType], ['File', 'a.pdf', 'a/b'])
    assert.ok(blob !== undefined && Buffer.from(await readWhole(blob)).equals(bytes))
    assert.deepEqual(listed(), ['a.pdf', 'x', 'b.pdf'])
  })

  it('keeps no more than it may, and the newest of them', async () => {
    const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 12 })
    await forAllAsync(names, fc.integer({ min: 0, max: 4 }), async (texts, most) => {
      const { push, listed } = setUp(most)
      for (const text of texts) await push({ text })
      const newest = [...new Set(texts.toReversed())]
      assert.deepEqual(listed(), newest.slice(0, most))
    })
  })

  it('keeps nothing that is long, nor several files, nor more bytes than it may', async () => {
    const { pushBytes, listed, recent } = setUp()
    await pushBytes('Group', 'folder.zip', randomBytes(10))
    await pushBytes('File', 'film.mp4', randomBytes(MAX_RECENT_BYTES / 2 + 1))
    assert.deepEqual(listed(), [])
    for (const name of ['1', '2', '3', '4']) {
      await pushBytes('File', name, randomBytes(MAX_RECENT_BYTES / 2 - 2 * name.length))
    }
    assert.deepEqual(listed(), ['4', '3'])
    const total = recent.list.reduce((sum, { size }) => sum + size, 0)
    assert.ok(total <= MAX_RECENT_BYTES)
  })

  it('keeps long texts as bytes, and brings them back as they were', async () => {
    const { recent, latest, push, settle } = setUp()
    const texts = [`\u{feff}${'one\n'.repeat(MIB)}\u{1f44b}`, '\u{1f44b}'.repeat(MIB)]
    for (const text of texts) await push({ text })
    for (const text of texts) {
      const { id, size } = recent.list[1] ?? { id: '' }
      assert.equal(size, Buffer.byteLength(text))
      assert.equal(await recent.activate(id), true)
      await settle()
      assert.ok(latest.current?.item.text === text)
    }
    assert.deepEqual(
      recent.list.map(({ text }) => text),
      texts.toReversed().map((text) => Buffer.from(text).subarray(0, 4096).toString()),
    )
  })

  // Protocol: breaks off when the item is not remembered any more
  it('gives the bytes up when they are not remembered, also under who reads them', async () => {
    const { recent, push, pushBytes, listed } = setUp()
    const open = async () => (await recent.list[0]?.blob.open()) ?? assert.fail('nothing there')
    const gone = { code: 'BLOB_GONE' }
    await pushBytes('File', 'a', randomBytes(10))
    const first = await open()
    assert.equal(await first.read(new Uint8Array(6), 5), 5)
    // Comes again, and stays.
    await pushBytes('File', 'b', randomBytes(10))
    await push({ text: 'x' })
    await recent.activate(recent.list[2]?.id ?? '')
    assert.equal(await first.read(new Uint8Array(6), 5), 5)
    for (const name of ['c', 'd']) await pushBytes('File', name, randomBytes(8 * MIB - 2))
    assert.deepEqual(listed(), ['d', 'c'])
    await assert.rejects(first.read(new Uint8Array(6), 5), gone)
    const [{ blob } = assert.fail('nothing there')] = recent.list
    const last = await blob.open()
    recent.forget()
    await assert.rejects(last.read(new Uint8Array(6), 5), gone)
    await assert.rejects(blob.open(), gone)
  })

  it('keeps as much as it is given room for', async () => {
    const { push, listed } = setUp(20, MIB)
    for (const letter of 'abc') await push({ text: letter.repeat(MIB / 2 - 8192) })
    await push({ text: 'd'.repeat(MIB / 2 + 1) })
    assert.deepEqual(
      listed().map((text) => text.slice(0, 1)),
      ['c', 'b'],
    )
  })

  it('counts the texts that come with files', async () => {
    const { push, recent } = setUp(10_000)
    const text = 'x'.repeat(100_000)
    for (let index = 0; index < 2200; index += 1) {
      const blob = await blobOf(randomBytes(10))
      const bytes = { kind: 'received', blob, mediaType: 'a/b' } as const
      await push({ type: 'File', text, dataName: `${index}`, bytes })
    }
    const held = recent.list.reduce((sum, item) => sum + item.size + 2 * item.text.length, 0)
    assert.ok(held <= MAX_RECENT_BYTES, `${held} bytes`)
    assert.ok(recent.list.length > 1000)
  })

  it('says so when it was forgotten meanwhile', async () => {
    const { recent, push, listed } = setUp()
    await push({ text: 'x' })
    const [{ id } = { id: '' }] = recent.list
    recent.forget()
    assert.deepEqual(listed(), [])
    assert.equal(await recent.activate(id), false)
  })
})
