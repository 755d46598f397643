/** What every {@link BlobStore} does with bytes that come. @module */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { digestsOf } from '../../src/hashing/file-hasher.ts'
import type { BlobStore } from '../../src/ports/blob.ts'
import { brokenStream, readBlob, readText, streamOf } from './byte-streams.ts'
import fc, { forAllAsync } from './property.ts'
import { sha256 } from './hashes.ts'

export interface OpenedBlobStore {
  readonly store: Pick<BlobStore, 'receive'>
  /** How many blobs take room. */
  count(): Promise<number>
}

const LIMIT = { maxBytes: 8 * 1024 * 1024 }

/** Describes the stores that `open` makes; each is empty. */
export function describeBlobStore(
  name: string,
  open: (t: TestContext) => Promise<OpenedBlobStore>,
): void {
  describe(name, () => {
    describe('receive()', () => {
      it('keeps and hashes the same bytes, however they were cut', async (t) => {
        const { store } = await open(t)
        const cuts = fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 20 })
        await forAllAsync(fc.uint8Array({ maxLength: 5000 }), cuts, async (bytes, positions) => {
          const edges = [0, ...positions.sort((a, b) => a - b), bytes.length]
          const chunks = edges.map((edge, i) => bytes.subarray(edge, edges[i + 1] ?? edge))
          const blob = await store.receive(streamOf(...chunks), LIMIT)
          assert.deepEqual(await readBlob(blob), Buffer.from(bytes))
          assert.deepEqual(blob.digests, await digestsOf(bytes))
          await blob.discard()
        })
      })

      for (const size of [0, 1, 1024 * 1024, 1024 * 1024 + 1, 5_000_000]) {
        it(`keeps ${size} bytes`, async (t) => {
          const { store } = await open(t)
          const bytes = randomBytes(size)
          const chunks = Array.from({ length: Math.ceil(size / 65_536) }, (_, index) =>
            bytes.subarray(index * 65_536, (index + 1) * 65_536),
          )
          const blob = await store.receive(streamOf(...chunks), { ...LIMIT, declaredSize: size })
          assert.equal(blob.size, size)
          assert.equal(blob.digests.sha256, sha256(bytes))
          assert.deepEqual(blob.digests, await digestsOf(bytes))
          assert.equal(bytes.equals(await readBlob(blob)), true)
        })
      }

      it('refuses what is declared too large without asking for a byte', async (t) => {
        const { store, count } = await open(t)
        const bytes = streamOf('hello')
        const expected = { declaredSize: 6, maxBytes: 5 }
        await assert.rejects(store.receive(bytes, expected), { code: 'UPLOAD_TOO_LARGE' })
        assert.equal(bytes.taken, 0)
        assert.equal(await count(), 0)
      })

      it('refuses what turns out too large at once, and closes the stream', async (t) => {
        const { store, count } = await open(t)
        const bytes = streamOf('hello', ' world', '!')
        await assert.rejects(store.receive(bytes, { maxBytes: 5 }), { code: 'UPLOAD_TOO_LARGE' })
        assert.deepEqual([bytes.taken, bytes.isClosed], [2, true])
        assert.equal(await count(), 0)
      })

      it('takes exactly as much as it may', async (t) => {
        const { store } = await open(t)
        const blob = await store.receive(streamOf('hel', 'lo'), { declaredSize: 5, maxBytes: 5 })
        assert.equal(await readText(blob), 'hello')
      })

      it('refuses fewer bytes than declared', async (t) => {
        const { store, count } = await open(t)
        const expected = { ...LIMIT, declaredSize: 6 }
        const refused = store.receive(streamOf('hello'), expected)
        await assert.rejects(refused, { code: 'UPLOAD_INCOMPLETE' })
        assert.equal(await count(), 0)
      })

      it('passes on what the stream threw, and leaves nothing', async (t) => {
        const { store, count } = await open(t)
        const error = new Error('the client is gone')
        const large = 'x'.repeat(3_000_000)
        await assert.rejects(store.receive(brokenStream(error, 'hello'), LIMIT), error)
        await assert.rejects(store.receive(brokenStream(error, large, large), LIMIT), error)
        assert.equal(await count(), 0)
      })
    })

    describe('a blob', () => {
      it('can be read from anywhere, and no further than its end', async (t) => {
        const { store } = await open(t)
        const blob = await store.receive(streamOf('hello world'), LIMIT)
        const file = await blob.open()
        const target = Buffer.alloc(8, '.')
        assert.equal(await file.read(target.subarray(0, 5), 6), 5)
        assert.equal(target.toString(), 'world...')
        assert.equal(await file.read(target, 6), 5)
        assert.equal(await file.read(target, 11), 0)
        assert.equal(await file.read(target, 12), 0)
        await file.close()
      })

      it('is gone once it was discarded, and still there for whoever reads it', async (t) => {
        const { store, count } = await open(t)
        const blob = await store.receive(streamOf('hello'), LIMIT)
        const file = await blob.open()
        await blob.discard()
        await blob.discard()
        await assert.rejects(blob.open(), { code: 'BLOB_GONE' })
        const target = Buffer.alloc(5)
        assert.equal(await file.read(target, 0), 5)
        assert.equal(target.toString(), 'hello')
        await file.close()
        assert.equal(await count(), 0)
      })
    })
  })
}
