import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { GrowingBlob } from '../../src/storage/blobs/growing-blob.ts'
import { brokenStream, readText, streamOf } from '../support/byte-streams.ts'
import { sha256 } from '../support/hashes.ts'
import { openBlobStore } from './support/open-stores.ts'
import { MIB } from '../../src/core/limits.ts'

const UNLIMITED = {
  bytes: Infinity,
  grow: async () => undefined,
  wrote: () => undefined,
  release: () => undefined,
}

/** A store that tells how often the hashing of a file was begun. */
async function open(t: TestContext) {
  const { store, hasher } = await openBlobStore(t)
  let begun = 0
  const start = hasher.start.bind(hasher)
  hasher.start = (file) => {
    begun += 1
    return start(file)
  }
  return { store, begun: () => begun }
}

function append(
  blob: GrowingBlob,
  bytes: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<void> {
  return blob.append({ bytes, maxBytes: Infinity, allowance: UNLIMITED, signal })
}

describe('a file that comes in several requests', () => {
  it('is hashed once, however often it breaks off', async (t) => {
    const { store, begun } = await open(t)
    const blob = await store.begin('ab'.repeat(16), { isKept: true })
    const piece = 'a piece of it '.repeat(100_000)
    for (let count = 0; count < 4; count++) {
      const error = new Error('the client is gone')
      await assert.rejects(append(blob, brokenStream(error, piece)), error)
    }
    const whole = await blob.finish()
    assert.equal(begun(), 1)
    assert.equal(whole.size, 4 * piece.length)
    assert.equal(whole.digests.sha256, sha256(piece.repeat(4)))
    assert.equal(sha256(await readText(whole)), whole.digests.sha256)
  })

  it('is read once more after it was closed, and has the same hash', async (t) => {
    const { store, begun } = await open(t)
    const blob = await store.begin('ab'.repeat(16), { isKept: true })
    const piece = Buffer.alloc(3 * MIB, 'x')
    await append(blob, streamOf(piece))
    await blob.close()
    assert.equal(blob.size, piece.length)
    await append(blob, streamOf('end'))
    const whole = await blob.finish()
    assert.equal(begun(), 2)
    assert.equal(whole.digests.sha256, sha256(`${piece}end`))
  })

  it('can be waited for no longer while it is read again', async (t) => {
    const { store } = await open(t)
    const blob = await store.begin('ab'.repeat(16), { isKept: true })
    await append(blob, streamOf(Buffer.alloc(3 * MIB, 'x')))
    await blob.close()
    const abort = new AbortController()
    const appended = append(blob, streamOf('end'), abort.signal)
    const reason = new Error('somebody else')
    abort.abort(reason)
    await assert.rejects(appended, reason)
    assert.equal(blob.size, 3 * MIB)
    await append(blob, streamOf('end'))
    assert.equal((await blob.finish()).size, 3 * MIB + 3)
  })
})
