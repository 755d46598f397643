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

/** Status and code of a refusal. */
async function refusal(phone: Phone, path: string, init: RequestInit = {}) {
  const response = await phone.fetch(path, init)
  return [response.status, (await readObject(response))['code']]
}

describe('GET /api/history/{profileId}', () => {
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
  })

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

  it('tells a text from a file of the same bytes', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.pushText('hello')
    assert.equal(await statusOf(phone, `/api/history/File-${sha256('hello')}`), 404)
  })

  it('refuses what is no profile id', async (t) => {
    const { phone } = await serveGateway(t)
    for (const id of ['ab', 'Song-ab', 'Text-', '-ab', '..%2f', 'Text%00-ab', '%ff']) {
      assert.deepEqual(await refusal(phone, `/api/history/${id}`), [400, 'BAD_PATH'], id)
    }
  })
})

describe('GET /api/history/{profileId}/data', () => {
  it('answers with the latest bytes, also after a text was pushed', async (t) => {
    const { phone } = await serveGateway(t)
    const bytes = Buffer.from('0123456789')
    await phone.pushFile('File', 'é.bin', bytes)
    await phone.pushText('later')
    const path = `/api/history/File-${sha256(bytes)}/data`
    assert.deepEqual(Buffer.from(await (await phone.fetch(path)).arrayBuffer()), bytes)
    const unknown = '/api/history/File-unknown/data'
    assert.equal(await statusOf(phone, unknown), 200)
    assert.equal(await statusOf(phone, unknown, ASKED_BY_REFERENCE), 404)
    assert.equal(await statusOf(phone, '/api/history/Image-unknown/data'), 404)
  })
})

describe('PATCH /api/history/{type}/{hash}', () => {
  const patch = (body: string) => ({ method: 'PATCH', body })

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

  it('refuses unknown types, and profile ids of another type', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.pushFile('Image', 'a', Buffer.from('hello'))
    for (const path of ['Song/ab', '0/ab', 'Image/Text-ab', 'Text/image-ab']) {
      const answer = await refusal(phone, `/api/history/${path}`, patch('{}'))
      assert.deepEqual(answer, [400, 'BAD_PATH'], path)
    }
  })

  it('takes a body of metadata, and no more', async (t) => {
    const { phone } = await serveGateway(t, { maxMetadataBytes: 1000 })
    await phone.pushText('hello')
    const path = `/api/history/Text/${sha256('hello')}`
    assert.equal(await statusOf(phone, path, patch('x'.repeat(1000))), 200)
    assert.equal(await statusOf(phone, path, patch('x'.repeat(1001))), 413)
    const stream = new ReadableStream({
      pull: (controller) => controller.enqueue(Buffer.alloc(600)),
    })
    const init: RequestInit & { duplex: 'half' } = { method: 'PATCH', body: stream, duplex: 'half' }
    assert.equal(await statusOf(phone, path, init), 413)
  })
})

describe('/api/history', () => {
  it('answers other methods with those that there are', async (t) => {
    const { phone } = await serveGateway(t)
    for (const [method, path, allow] of [
      ['GET', '', 'POST'],
      ['GET', '/query', 'POST'],
      ['DELETE', '/statistics', 'GET, HEAD'],
      ['GET', '/clear', 'DELETE'],
      ['POST', '/clear/', 'DELETE'],
      ['DELETE', '/Text-ab', 'GET, HEAD'],
      ['PATCH', '/Text-ab/data', 'GET, HEAD'],
      ['GET', '/Text/ab', 'PATCH'],
    ] as const) {
      const response = await phone.fetch(`/api/history${path}`, { method })
      const answer = [response.status, response.headers.get('allow')]
      assert.deepEqual(answer, [405, allow], `${method} ${path}`)
    }
    assert.equal(await statusOf(phone, '/api/history/Text/ab/data'), 404)
  })
})

describe('the dialect', () => {
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
