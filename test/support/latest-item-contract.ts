/** What every {@link LatestItem} does. @module */

import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Item } from '../../src/core/item.ts'
import { contentIdOf, digestsOf, nameHashOf } from '../../src/hashing/file-hasher.ts'
import type { BlobStore, HashedBlob } from '../../src/ports/blob.ts'
import type { LatestItem } from '../../src/ports/latest-item.ts'
import { readText, streamOf } from './byte-streams.ts'

export interface OpenedLatestItem {
  readonly latest: LatestItem
  /** Where its blobs come from. */
  readonly blobs: Pick<BlobStore, 'receive'>
}

/** Where an item came from, and when. */
const COME = {
  activatedAt: Date.UTC(2026, 0, 31),
  batch: '0123456789abcdef'.repeat(2),
  madeOf: 'did_1 2,1',
  groupHash: 'cd'.repeat(32),
  sender: { kind: 'device', deviceId: 'did_1' } as const,
  replaced: ['blake3v1:00'],
  stamp: { at: Date.UTC(2026, 0, 31), member: 'm_0123456789abcdef' },
}

/** An item of type Text. */
export async function textItem(text: string): Promise<Item> {
  const { sha256, blake3 } = await digestsOf(Buffer.from(text))
  return {
    type: 'Text',
    text,
    dataName: '',
    mediaType: 'text/plain',
    size: Buffer.byteLength(text),
    contentId: await contentIdOf('Text', blake3),
    contentHash: sha256,
    nameHash: sha256,
    aliases: [],
    ...COME,
  }
}

/** An item of type File over a blob. */
export async function fileItem(dataName: string, { size, digests }: HashedBlob): Promise<Item> {
  return {
    type: 'File',
    text: dataName,
    dataName,
    mediaType: 'application/octet-stream',
    size,
    contentId: await contentIdOf('File', digests.blake3),
    contentHash: digests.sha256,
    nameHash: nameHashOf(dataName, digests.sha256),
    aliases: ['ab'.repeat(32)],
    ...COME,
  }
}

/** An item of type Group over a blob. */
export async function groupItem(blob: HashedBlob): Promise<Item> {
  const contentId = await contentIdOf('Group', blob.digests.blake3)
  return { ...(await fileItem('g.zip', blob)), type: 'Group', contentId }
}

/** Describes what `open` makes; there is no item yet. */
export function describeLatestItem(
  name: string,
  open: (t: TestContext) => Promise<OpenedLatestItem>,
): void {
  describe(name, () => {
    async function receive(blobs: Pick<BlobStore, 'receive'>, text: string): Promise<HashedBlob> {
      return blobs.receive(streamOf(text), { maxBytes: 1000 })
    }

    it('begins without an item', async (t) => {
      const { latest } = await open(t)
      assert.equal(latest.current, undefined)
      assert.equal(latest.binary, undefined)
    })

    it('makes an item with bytes current', async (t) => {
      const { latest, blobs } = await open(t)
      const blob = await receive(blobs, 'hello')
      const item = await fileItem('a.txt', blob)
      const stored = await latest.put(item, blob)
      assert.deepEqual(stored.item, item)
      assert.deepEqual(latest.current, stored)
      assert.deepEqual(latest.binary, stored)
      assert.equal(await readText(latest.binary?.blob ?? blob), 'hello')
    })

    it('keeps the bytes readable after a Text became current', async (t) => {
      const { latest, blobs } = await open(t)
      const blob = await receive(blobs, 'hello')
      await latest.put(await fileItem('a.txt', blob), blob)
      const text = await latest.put(await textItem('text'), undefined)
      assert.equal(text.blob, undefined)
      assert.deepEqual(latest.current, text)
      assert.equal(latest.binary?.item.dataName, 'a.txt')
      assert.equal(await readText(blob), 'hello')
    })

    it('discards the bytes that it replaces, and no others', async (t) => {
      const { latest, blobs } = await open(t)
      const [first, second] = [await receive(blobs, 'first'), await receive(blobs, 'second')]
      await latest.put(await fileItem('a.txt', first), first)
      await latest.put(await textItem('text'), undefined)
      await latest.put(await fileItem('b.txt', second), second)
      await assert.rejects(first.open(), { code: 'BLOB_GONE' })
      assert.equal(await readText(second), 'second')
      assert.equal(latest.current?.item.dataName, 'b.txt')
    })

    it('keeps bytes that are to be saved until they are, or cannot be', async (t) => {
      const { latest, blobs } = await open(t)
      const [first, second] = [await receive(blobs, 'first'), await receive(blobs, 'second')]
      const one = await latest.put(await fileItem('a.txt', first), first, { isToSave: true })
      // The same bytes under another name wait for themselves.
      const named = await fileItem('b.txt', first)
      const two = await latest.put(named, first, { isToSave: true })
      const last = await latest.put(await fileItem('c.txt', second), second, { isToSave: true })
      assert.deepEqual(latest.unsaved, [one, two, last])
      await latest.endSaving(one)
      await latest.endSaving(one)
      assert.equal(await readText(first), 'first')
      await latest.endSaving(last, two)
      await assert.rejects(first.open(), { code: 'BLOB_GONE' })
      assert.equal(await readText(second), 'second')
      assert.deepEqual([latest.unsaved, latest.current], [[], last])
    })

    it('takes the bytes that it has again', async (t) => {
      const { latest, blobs } = await open(t)
      const blob = await receive(blobs, 'hello')
      const item = await fileItem('a.txt', blob)
      await latest.put(item, blob)
      await latest.put(await textItem('text'), undefined)
      await latest.put({ ...item, activatedAt: item.activatedAt + 1 }, latest.binary?.blob)
      assert.equal(latest.current?.item.activatedAt, item.activatedAt + 1)
      assert.equal(await readText(blob), 'hello')
    })

    it('stays as it is when the bytes are gone', async (t) => {
      const { latest, blobs } = await open(t)
      const [first, second] = [await receive(blobs, 'first'), await receive(blobs, 'second')]
      await latest.put(await fileItem('a.txt', first), first)
      const item = await fileItem('b.txt', second)
      await second.discard()
      await assert.rejects(latest.put(item, second), { code: 'BLOB_GONE' })
      assert.equal(latest.current?.item.dataName, 'a.txt')
      assert.equal(await readText(first), 'first')
    })
  })
}
