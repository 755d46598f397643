import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { MIB } from '../../src/core/limits.ts'
import { openClient } from '../../src/peers/open-client.ts'
import { pullItem } from '../../src/peers/pull-item.ts'
import { PASSWORD, startFakeGateway, USER } from '../client/support/fake-gateway.ts'
import { memoryBlobs } from '../support/memory-blob.ts'
import { LASTING, PASSING } from '../support/passing-statuses.ts'
import { quickClock } from '../support/quick-clock.ts'
import { sha256 } from '../support/hashes.ts'

/** Each half is a body that does not pass the parser. */
const BYTES = randomBytes(4 * MIB)

/** Pulls a file whose connection breaks in the middle; the next answer has this status. */
async function pullPast(
  t: TestContext,
  status: number,
  type = 'application/x-film',
): Promise<{ readonly sha256: string; readonly mediaType: string }> {
  const { url, received } = await startFakeGateway(t, (response, { headers }) => {
    const { range } = headers
    if (range === undefined) {
      response.writeHead(200, { 'Content-Length': BYTES.length, ETag: '"e"', 'Content-Type': type })
      response.write(BYTES.subarray(0, 2 * MIB), () => response.destroy())
    } else if (received.length === 2) {
      response.writeHead(status).end()
    } else {
      const from = Number(/^bytes=(\d+)-$/.exec(range)?.[1])
      const { length } = BYTES
      const extent = `bytes ${from}-${length - 1}/${length}`
      response.writeHead(206, { 'Content-Range': extent, 'Content-Length': length - from })
      response.end(BYTES.subarray(from))
    }
  })
  const client = openClient({ url, username: USER, password: PASSWORD }, { clock: quickClock })
  t.after(() => client.close())
  let pulled = { sha256: '', mediaType: '' }
  await pullItem(
    {
      ...{ type: 'File', text: 'film', dataName: 'film', hasData: true, size: BYTES.length },
      ...{ hash: sha256(BYTES), etag: undefined },
      ...{ contentId: undefined, mediaType: undefined, stamp: { at: 1, member: '' } },
    },
    {
      client,
      latest: { current: undefined, binary: undefined },
      inbound: {
        apply: async ({ bytes }) => {
          assert.equal(bytes.kind, 'received')
          if (bytes.kind !== 'received') return undefined as never
          pulled = { sha256: bytes.blob.digests.sha256, mediaType: bytes.mediaType }
          return undefined as never
        },
      },
      blobs: memoryBlobs,
      clock: quickClock,
      circleTime: { believes: () => true },
      maxFileBytes: BYTES.length,
      signal: new AbortController().signal,
    },
  )
  return pulled
}

describe('a file that a member pulls', () => {
  for (const status of PASSING) {
    it(`goes on after ${status}`, async (t) => {
      assert.notEqual((await pullPast(t, status)).sha256, '')
    })
  }

  it('has a media type that a header may have, whatever the other one says', async (t) => {
    for (const [told, mediaType] of [
      ['application/pdf', 'application/pdf'],
      ['application/pdf\t;x=1', 'application/pdf;x=1'],
      ['application/x-caf\xe9', 'application/octet-stream'],
    ] as const) {
      assert.equal((await pullPast(t, 503, told)).mediaType, mediaType)
    }
  })

  for (const status of LASTING) {
    it(`ends with ${status}`, async (t) => {
      await assert.rejects(pullPast(t, status), { status })
    })
  }
})
