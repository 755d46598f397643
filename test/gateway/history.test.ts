import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serveGateway } from '../support/gateway.ts'
import { sha256 } from '../support/hashes.ts'
import { readObject, type Phone } from '../support/phone.ts'
import { REFERENCE } from './support/forms.ts'

const ASKED_BY_REFERENCE = { headers: REFERENCE }

function boundHash(name: string, content: string): string {
  return sha256(`${name}|${sha256(content).toUpperCase()}`).toUpperCase()
}

async function statusOf(phone: Phone, path: string, init: RequestInit = {}): Promise<number> {
  const response = await phone.fetch(path, init)
  await response.arrayBuffer()
  return response.status
}

/** The headers that tell of the resource, not of the connection and the moment. */
function ownHeaders({ headers }: Response): readonly (readonly [string, string])[] {
  return [...headers].filter(([name]) => !['connection', 'date', 'keep-alive'].includes(name))
}

describe('the history', () => {
  // Protocol: `POST /api/history/query`
  // Protocol, History: `GET /api/history/{profileId}`
  it('has one record, that of the current item', async (t) => {
    const { phone } = await serveGateway(t)
    const query = async (): Promise<unknown> =>
      (await phone.fetch('/api/history/query', { method: 'POST' })).json()
    assert.deepEqual(await query(), [])
    await phone.pushText('older')
    await phone.pushText('hello')
    const record = await readObject(await phone.fetch(`/api/history/Text-${sha256('hello')}`))
    assert.deepEqual([record['type'], record['text']], ['Text', 'hello'])
    assert.deepEqual(await query(), [record])
    assert.equal(await statusOf(phone, `/api/history/Text-${sha256('older')}`), 404)
  })

  // Protocol: `GET /api/history/statistics`
  // Protocol: `DELETE /api/history/clear`
  it('counts that one, and cannot be cleared', async (t) => {
    const { phone } = await serveGateway(t)
    const read = async () => readObject(await phone.fetch('/api/history/statistics'))
    const counts = { totalCount: 0, starredCount: 0, deletedCount: 0, activeCount: 0 }
    assert.deepEqual(await read(), { ...counts, totalFileSizeMb: 0, totalFileSizeMB: 0 })
    await phone.pushFile('File', 'a', Buffer.alloc(2 ** 19))
    const cleared = await phone.fetch('/api/history/clear', { method: 'DELETE' })
    assert.equal(cleared.headers.get('content-type'), 'application/json')
    assert.deepEqual(await cleared.json(), { deleted: 0 })
    const one = { ...counts, totalCount: 1, activeCount: 1 }
    assert.deepEqual(await read(), { ...one, totalFileSizeMb: 0.5, totalFileSizeMB: 0.5 })
  })
})

describe('GET /api/history/{profileId}', () => {
  // Protocol: the current item, if it is of exactly that type
  // Protocol: these clients ask in order to decide whether to upload
  it('finds it by each of its hashes, and tells the one asked for', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.fetch('/file/a', { method: 'PUT', body: 'hello' })
    const document = JSON.stringify({ type: 'File', dataName: 'a', hash: 'From-Client' })
    await phone.fetch('/Sync.json', { method: 'PUT', body: document })
    for (const hash of [sha256('hello'), boundHash('a', 'hello'), 'from-CLIENT']) {
      for (const asked of [hash, hash.toLowerCase(), hash.toUpperCase()]) {
        for (const headers of [{}, REFERENCE]) {
          const response = await phone.fetch(`/api/history/fILE-${asked}`, { headers })
          assert.equal((await readObject(response))['hash'], asked)
        }
      }
    }
    assert.equal(await statusOf(phone, '/api/history/File-00'), 200, 'hashed in its own way')
    assert.equal(await statusOf(phone, '/api/history/Image-00'), 404, 'of exactly that type')
    assert.equal(await statusOf(phone, '/api/history/File-00', ASKED_BY_REFERENCE), 404)
  })

  // Protocol: is 404 in the dialect `sync` too
  it('takes no hash for another way of hashing once its device has hashed right, or was refused', async (t) => {
    const { phone, addPhone } = await serveGateway(t)
    const other = await addPhone()
    const push = async (sender: Phone, hash: string, body: string) => {
      if (body !== '') await sender.fetch('/file/a', { method: 'PUT', body })
      const document = JSON.stringify({ type: 'File', dataName: 'a', hash, hasData: true })
      return (await sender.fetch('/Sync.json', { method: 'PUT', body: document })).status
    }
    const unknown = sha256('something else')
    const asks = (asking: Phone) => statusOf(asking, `/api/history/File-${unknown}`)
    await push(phone, sha256('its own way'), 'bytes')
    assert.deepEqual([await asks(phone), await asks(other)], [200, 200])
    await push(phone, sha256('bytes'), 'bytes')
    assert.deepEqual([await asks(phone), await asks(other)], [404, 200])
    await push(phone, sha256('its own way'), 'bytes')
    assert.equal(await asks(phone), 200)
    // It left out its bytes, as it was told that they are here.
    assert.equal(await push(other, unknown, ''), 404)
    assert.deepEqual([await asks(phone), await asks(other)], [200, 404])
    assert.equal(await statusOf(other, `/api/history/File-${unknown}/data`), 200)
    assert.equal(await push(other, unknown, 'something else'), 200)
  })

  it('takes no hash for another way of hashing of UniClip, which leaves out its first photo then', async (t) => {
    const { phone, addPhone } = await serveGateway(t)
    await phone.pushFile('Image', 'a.png', Buffer.from('of another one'))
    const headers = { 'user-agent': 'UniClip/1.0.0' }
    const asks = async (hash: string) =>
      statusOf(await addPhone(), `/api/history/Image-${hash}`, { headers })
    assert.deepEqual(
      [await asks(sha256('first')), await asks(sha256('of another one'))],
      [404, 200],
    )
  })

  it('tells a text from a file of the same bytes', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.pushText('hello')
    assert.equal(await statusOf(phone, `/api/history/File-${sha256('hello')}`), 404)
  })
})

describe('GET /api/history/{profileId}/data', () => {
  // Protocol: `GET /api/history/{profileId}/data`
  it('answers with the latest bytes, also after a text was pushed', async (t) => {
    const { phone } = await serveGateway(t)
    const bytes = Buffer.from('0123456789')
    await phone.pushFile('File', 'é.bin', bytes)
    await phone.pushText('later')
    const path = `/api/history/File-${sha256(bytes)}/data`
    const [response, same] = [await phone.fetch(path), await phone.fetch('/file/é.bin')]
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes)
    assert.deepEqual(ownHeaders(response), ownHeaders(same))
    assert.equal(await statusOf(phone, `/api/history/Text-${sha256('later')}/data`), 404)
    const unknown = '/api/history/File-unknown/data'
    assert.equal(await statusOf(phone, unknown), 200)
    assert.equal(await statusOf(phone, unknown, ASKED_BY_REFERENCE), 404)
    assert.equal(await statusOf(phone, '/api/history/Image-unknown/data'), 404)
  })
})

describe('PATCH /api/history/{type}/{hash}', () => {
  const patch = (body: string) => ({ method: 'PATCH', body })

  // Protocol: nothing of stars, pins and deletions is kept
  // Protocol: `PATCH /api/history/{type}/{hash}`
  it('answers with the record, and changes nothing', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.pushText('hello')
    const hash = sha256('hello').toUpperCase()
    const before = await readObject(await phone.fetch(`/api/history/Text-${hash}`))
    for (const path of [`Text/${hash}`, `text/${hash}`, `Text/Text-${hash}`, `TEXT/text-${hash}`]) {
      for (const body of ['', '{"starred":true,"version":9}', '\0', 'x'.repeat(200_000)]) {
        const response = await phone.fetch(`/api/history/${path}`, patch(body))
        assert.equal(response.status, 200)
        assert.equal(response.headers.get('connection'), 'keep-alive')
        assert.deepEqual(await readObject(response), before)
      }
    }
    assert.deepEqual(await readObject(await phone.fetch(`/api/history/Text-${hash}`)), before)
  })

  it('takes no more of an endless body than metadata may have', async (t) => {
    const { phone } = await serveGateway(t, { maxMetadataBytes: 1000 })
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.alloc(600)) })
    const init: RequestInit & { duplex: 'half' } = { method: 'PATCH', body, duplex: 'half' }
    assert.equal(await statusOf(phone, '/api/history/Text/ab', init), 413)
  })
})

describe('the dialect', () => {
  // Protocol: The document path of the request
  it('is that of the document path that was used last, also on one connection', async (t) => {
    const { phone, addPhone } = await serveGateway(t)
    await phone.pushFile('File', 'a', Buffer.from('hello'))
    const hashOf = async (some: Phone, headers: Record<string, string> = {}) => {
      const response = await some.fetch('/api/history/query', { method: 'POST', headers })
      const records: unknown = await response.json()
      assert.ok(Array.isArray(records), 'an array')
      return records[0]?.hash
    }
    const [plain, bound] = [sha256('hello'), boundHash('a', 'hello')]
    assert.equal(await hashOf(await addPhone()), plain, 'nothing is known of it')
    for (const [path, hash] of [
      ['/SyncClipboard.json', bound],
      ['/Sync.json', plain],
      ['//SyncClipboard.json', bound],
    ] as const) {
      await statusOf(phone, path)
      assert.equal(await hashOf(phone), hash, path)
    }
    await phone.document()
    assert.equal(await hashOf(phone, REFERENCE), bound)
    assert.equal(await hashOf(phone, { 'user-agent': 'syncclipboard' }), plain)
    assert.equal(await hashOf(phone, { 'user-agent': 'Not SyncClipboard' }), plain)
  })
})
