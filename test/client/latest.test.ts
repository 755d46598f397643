import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ClientError, connect } from '../../src/client.ts'
import fc, { forAllAsync } from '../support/property.ts'
import { CONTENT_ID, PASSWORD, USER, json, startFakeGateway } from './support/fake-gateway.ts'

const EMPTY = { type: 'Text', text: '', hasData: false, size: 0, hash: '', dataName: '' }
const TEXT = { ...EMPTY, text: 'hi', size: 2, hash: 'aa', contentId: CONTENT_ID }
const FILE = { ...TEXT, type: 'File', text: 'a.zip', hasData: true, dataName: 'a.zip' }

describe('latest()', () => {
  it('reads the document, with its etag', async (t) => {
    const { client, received } = await startFakeGateway(t, json(TEXT, { headers: { ETag: '"1"' } }))
    assert.deepEqual(await client.latest(), { ...TEXT, etag: '"1"' })
    assert.deepEqual([received[0]?.method, received[0]?.url], ['GET', '/Sync.json'])
    assert.equal(received[0]?.headers['if-none-match'], undefined)
  })

  it('is undefined when the document is the one that the caller has', async (t) => {
    const { client, received } = await startFakeGateway(t, (response, { headers }) => {
      response.writeHead(headers['if-none-match'] === 'W/"1"' ? 304 : 500).end()
    })
    assert.equal(await client.latest({ etag: 'W/"1"' }), undefined)
    assert.equal(received.length, 1)
  })

  it('reads a newer document than the one that the caller has', async (t) => {
    const { client } = await startFakeGateway(t, json(FILE, { headers: { ETag: '"2"' } }))
    assert.deepEqual(await client.latest({ etag: '"1"' }), { ...FILE, etag: '"2"' })
  })

  it('reads the document of a server that has no item', async (t) => {
    const { client } = await startFakeGateway(t, json(EMPTY))
    assert.deepEqual(await client.latest(), { ...EMPTY, contentId: undefined, etag: undefined })
  })

  it('does with the fields that other servers send', async (t) => {
    const { client } = await startFakeGateway(t, json({ type: 'text', text: null, more: [1] }))
    assert.deepEqual(await client.latest(), { ...EMPTY, contentId: undefined, etag: undefined })
  })

  it('reads a text of 16 MiB that JSON spells with six times as many bytes', async (t) => {
    const text = '\u0001'.repeat(16 * 1024 * 1024)
    const { client } = await startFakeGateway(t, json({ type: 'Text', text }))
    const { text: read } = await client.latest()
    assert.ok(read === text)
  })

  it('keeps no chunk of an answer that comes byte by byte', async () => {
    const bytes = new TextEncoder().encode(JSON.stringify({ ...TEXT, text: 'é'.repeat(20_000) }))
    const chunks: WeakRef<Uint8Array>[] = []
    let held: number | undefined
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const at = chunks.length
        if (at < bytes.length) {
          const chunk = bytes.slice(at, at + 1)
          chunks.push(new WeakRef(chunk))
          return controller.enqueue(chunk)
        }
        // What a turn of the event loop has looked at stays until it is over.
        await setImmediate()
        collectGarbage()
        held = chunks.filter((chunk) => chunk.deref() !== undefined).length
        controller.close()
      },
    })
    const fetch = async (): Promise<Response> => new Response(body)
    const client = connect(
      { url: 'http://192.0.2.1', username: USER, password: PASSWORD },
      { fetch },
    )
    assert.equal((await client.latest()).text, 'é'.repeat(20_000))
    assert.ok(held !== undefined && held < 100, `${held} of ${bytes.length} are held`)
  })

  it('stops reading an answer that does not end', async (t) => {
    const { client } = await startFakeGateway(t, (response) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ')
      const write = (): void => {
        while (response.write(chunk));
      }
      response.on('drain', write)
      write()
    })
    await assert.rejects(client.latest(), { code: 'BAD_ANSWER', reason: 'too long' })
  })

  it('refuses documents that are not what they should be, and names the field', async (t) => {
    const bad: readonly [object, string][] = [
      [{ type: 'Folder' }, 'type'],
      [{ type: 1 }, 'type'],
      [{}, 'type'],
      [{ ...TEXT, text: 1 }, 'text'],
      [{ ...TEXT, hasData: 'no' }, 'hasData'],
      [{ ...TEXT, size: -1 }, 'size'],
      [{ ...TEXT, size: 1.5 }, 'size'],
      [{ ...TEXT, size: '2' }, 'size'],
      [{ ...TEXT, hash: [] }, 'hash'],
      [{ ...TEXT, contentId: 'blake3v1:' }, 'contentId'],
      [{ ...FILE, dataName: '' }, 'dataName'],
      [{ ...FILE, dataName: '../.ssh/authorized_keys' }, 'dataName'],
      [{ ...TEXT, dataName: '..' }, 'dataName'],
    ]
    for (const [document, field] of bad) {
      const { client } = await startFakeGateway(t, json(document))
      await assert.rejects(client.latest(), { code: 'BAD_ANSWER', reason: `bad "${field}"` })
    }
  })

  it('refuses answers that are no document', async (t) => {
    const bodies = ['', 'null', '[]', '"Text"', '{', '<html>', '{"type":"Text","text":"\xff"}']
    for (const body of bodies) {
      const { client } = await startFakeGateway(t, (response) => response.end(body, 'latin1'))
      await assert.rejects(client.latest(), { code: 'BAD_ANSWER' })
    }
  })

  it('says that the connection broke in the middle', async (t) => {
    const { client } = await startFakeGateway(t, (response) => {
      response.writeHead(200, { 'Content-Length': 100 }).write('{', () => response.destroy())
    })
    await assert.rejects(client.latest(), { code: 'UNREACHABLE' })
  })

  it('refuses an etag that cannot stand in a header', async (t) => {
    const { client, received } = await startFakeGateway(t, json(TEXT))
    for (const etag of ['', 'x', '"a\r\nX: y"', '"€"', 'w/"a"']) {
      await assert.rejects(client.latest({ etag }), { code: 'ARGUMENT_INVALID' })
    }
    assert.deepEqual(received, [])
  })

  it('gives a document or a bad answer, whatever the server says', async (t) => {
    let body = ''
    const { client } = await startFakeGateway(t, (response) => response.end(body))
    const fitting = fc.constantFrom('Text', 'File', 'a.txt', CONTENT_ID, 5, true)
    const field = fc.oneof(fc.jsonValue(), fitting)
    const document = fc.record(
      { type: field, text: field, hasData: field, size: field, dataName: field, contentId: field },
      { requiredKeys: ['type'] },
    )
    const texts = fc.oneof(
      document.map((fields) => JSON.stringify(fields)),
      fc.json(),
    )
    await forAllAsync(texts, async (text) => {
      body = text
      try {
        const { type, size, dataName, hasData } = await client.latest()
        assert.ok(['Text', 'Image', 'File', 'Group'].includes(type))
        assert.ok(size >= 0 && !dataName.includes('/') && (dataName !== '' || !hasData))
      } catch (error) {
        assert.ok(error instanceof ClientError)
        assert.equal(error.code, 'BAD_ANSWER')
      }
    })
  })
})

function collectGarbage(): void {
  // Also in a process that was started without the flag.
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('This Node does not collect on demand')
  collect()
}
