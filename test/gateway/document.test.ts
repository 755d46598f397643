import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serveGateway } from '../support/gateway.ts'
import { sha256 } from '../support/hashes.ts'
import { readObject, type Phone } from '../support/phone.ts'
import { RawClient } from '../support/raw-http.ts'
import { MIB } from '../../src/core/limits.ts'

const PNG = Buffer.from('\x89PNG\r\n\x1a\n and so on', 'latin1')

const HELLO_TEXT = 'blake3v1:d10e733553f46c16ca8d7cb0154d91f4052ef7f53e874a3d387acd64c918f89b'

describe('GET /Sync.json', () => {
  // Protocol: Check value: bytes `hello`
  it('describes bytes in the dialect of its path', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.pushFile('Image', 'a.png', PNG)
    const { contentId, ...document } = await phone.document()
    const plain = {
      type: 'Image',
      text: 'a.png',
      hasData: true,
      size: PNG.length,
      dataName: 'a.png',
    }
    assert.deepEqual(document, { ...plain, hash: sha256(PNG) })
    const other = await (await phone.fetch('/SyncClipboard.json')).json()
    const bound = sha256(`a.png|${sha256(PNG).toUpperCase()}`).toUpperCase()
    assert.deepEqual(other, { ...plain, hash: bound, contentId })
  })

  // Protocol: its programs forget a text of another size
  it('has the size of a text as each dialect counts it, also of a long one', async (t) => {
    const { phone } = await serveGateway(t)
    for (const text of ['grüße 🧀', '写🧀'.repeat(100_000)]) {
      await phone.pushText(text)
      assert.equal((await phone.document())['size'], Buffer.byteLength(text))
      const document = await readObject(await phone.fetch('/SyncClipboard.json'))
      const path = `/api/history/Text-${String(document['hash'])}`
      const record = await readObject(await phone.fetch(path))
      assert.deepEqual([document['size'], record['size']], [text.length, text.length])
    }
  })

  // Protocol: The `ETag` changes with each activation
  it('answers 304 until something becomes current again', async (t) => {
    const { phone, clock } = await serveGateway(t)
    for (const text of ['one', 'two', 'two']) {
      const etag = (await phone.fetch('/Sync.json')).headers.get('etag') ?? ''
      const again = await phone.fetch('/Sync.json', { headers: { 'if-none-match': etag } })
      assert.equal(again.status, 304)
      assert.equal(again.headers.get('cache-control'), 'no-store')
      clock.advance(1000)
      await phone.pushText(text)
      const changed = await phone.fetch('/Sync.json', { headers: { 'if-none-match': etag } })
      assert.equal(changed.status, 200)
    }
  })
})

describe('a long text', () => {
  // Protocol: A long text is in memory once
  it('is sent to its end to those who read slowly, unless newer ones need the memory', async (t) => {
    const { phone, port, authorization } = await serveGateway(t)
    const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(9 * MIB))
    const login = `Authorization: ${authorization}`
    const request = ['GET /Sync.json HTTP/1.1', 'Host: box', login, '', ''].join('\r\n')
    const readers: { readonly reader: RawClient; readonly length: number }[] = []
    for (const text of texts) {
      await phone.pushText(text)
      const reader = await RawClient.open(t, port)
      const head = await reader.send(request).readUntil('\r\n\r\n')
      reader.socket.pause()
      readers.push({ reader, length: Number(/^Content-Length: (\d+)/im.exec(head)?.[1]) })
    }
    for (const { reader } of readers) reader.socket.resume()
    const read = async (index: number): Promise<unknown> => {
      const { reader, length = 0 } = readers[index] ?? {}
      return JSON.parse((await reader?.readBytes(length)) ?? '').text
    }
    await assert.rejects(read(0))
    for (const index of [1, 2]) assert.equal(await read(index), texts[index])
  })

  it('is sent to its end whatever records others are answered with', async (t) => {
    const { phone, port, authorization, addPhone } = await serveGateway(t)
    const text = 'a'.repeat(14 * MIB)
    await phone.pushText(text)
    const reader = await RawClient.open(t, port)
    const login = `Authorization: ${authorization}`
    const head = ['GET /Sync.json HTTP/1.1', 'Host: box', login, '', ''].join('\r\n')
    const length = Number(
      /^Content-Length: (\d+)/im.exec(await reader.send(head).readUntil('\r\n\r\n'))?.[1],
    )
    reader.socket.pause()
    for (const size of [2_796_200, 20_000]) {
      const body = `type=Text&hash=${'0'.repeat(63)}${size % 7}&text=${'\x01'.repeat(size)}`
      const headers = {
        'user-agent': 'SyncClipboard',
        'content-type': 'application/x-www-form-urlencoded',
      }
      // Nobody reads the answer.
      const { status } = await (await addPhone()).fetch('/api/history', {
        method: 'POST',
        headers,
        body,
      })
      assert.equal(status, 200)
    }
    reader.socket.resume()
    assert.equal(JSON.parse(await reader.readBytes(length)).text, text)
  })

  it('is the same in all kinds of documents, records and lists', async (t) => {
    const { phone } = await serveGateway(t)
    const text = `"'\\\n\x01\u2028é写😀`.repeat(20_000)
    await phone.pushText(text)
    const { hash } = await phone.document()
    const old = { headers: { 'user-agent': 'SyncClipboard.Windows2.8.0' } }
    for (const [path, init] of [
      ['/Sync.json', {}],
      ['/SyncClipboard.json', {}],
      ['/SyncClipboard.json', old],
      [`/api/history/Text-${String(hash)}`, {}],
      ['/api/history/query', { method: 'POST' }],
    ] as const) {
      const response = await phone.fetch(path, init)
      const answer = await response.text()
      assert.equal(Number(response.headers.get('content-length')), Buffer.byteLength(answer))
      const [read] = [JSON.parse(answer)].flat()
      assert.equal(read.text, text, path)
      assert.equal(read.Clipboard, init === old ? text : undefined)
    }
  })
})

describe('PUT /Sync.json', () => {
  const put = (body: string | Uint8Array, headers: Record<string, string> = {}) => ({
    method: 'PUT',
    body,
    headers,
  })

  // Protocol: `Content-Type` is ignored for documents
  it('answers with the content id, whatever Content-Type it came with', async (t) => {
    const { phone } = await serveGateway(t)
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const response = await phone.fetch(
        '/Sync.json',
        put('{"Type":"Text","Text":"hello"}', { 'content-type': type }),
      )
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('content-type'), 'application/json')
      assert.deepEqual(await response.json(), { contentId: HELLO_TEXT })
    }
  })

  it('answers 400 to what is no batch, in a document or above an upload', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.pushText('before')
    const batch = 'ab'.repeat(16)
    const documents = [
      { type: 'Group', batch },
      { type: 'Group', members: [1] },
      { type: 'Group', batch: batch.toUpperCase(), members: [1] },
      { type: 'Group', batch: [batch], members: [1] },
      { type: 'Text', batch, members: [1] },
      { type: 'File', batch, members: [1, 2] },
      ...[[], [0], [501], [1.5], ['1'], [1, 1], { length: 1 }, '1', new Array(501).fill(1)].map(
        (members) => ({ type: 'Group', batch, members }),
      ),
    ]
    for (const document of documents) {
      const response = await phone.fetch('/Sync.json', put(JSON.stringify(document)))
      assert.equal(response.status, 400, JSON.stringify(document))
      assert.equal((await readObject(response))['code'], 'BAD_BODY')
    }
    for (const value of ['', batch, `${batch}/`, `${batch}/0`, `${batch}/501`, `${batch}/1/1`]) {
      const headers = { 'X-Clipgate-Batch': value }
      const init = { method: 'PUT', body: 'a', headers }
      assert.equal((await phone.fetch('/file/a', init)).status, 400, value)
    }
    assert.equal((await phone.document())['text'], 'before')
  })

  // Protocol: without one, it is a Text
  it('needs a type, and one without is a Text where the reference protocol has it so', async (t) => {
    const { phone } = await serveGateway(t)
    const body = JSON.stringify({ Text: 'hello', HasData: false })
    const refused = await phone.fetch('/Sync.json', put(body))
    assert.deepEqual([refused.status, (await readObject(refused))['code']], [400, 'BAD_BODY'])
    const taken = await phone.fetch('/SyncClipboard.json', put(body))
    assert.deepEqual([taken.status, await taken.json()], [200, { contentId: HELLO_TEXT }])
    assert.equal((await phone.document())['text'], 'hello')
    // Otherwise an odd client would blank the clipboard.
    for (const other of ['{}', '{"txt":"a"}', '{"type":"Movie","text":"a"}', '[]']) {
      assert.equal((await phone.fetch('/SyncClipboard.json', put(other))).status, 400, other)
    }
    await phone.fetch('/file/a.png', put(PNG))
    const bytes = JSON.stringify({ dataName: 'a.png', hasData: true })
    assert.equal((await phone.fetch('/SyncClipboard.json', put(bytes))).status, 400, 'no text')
    assert.equal((await phone.document())['text'], 'hello')
  })

  // Protocol: no such upload, nothing matches
  it('answers 404 to a document whose bytes were never uploaded', async (t) => {
    const { phone, addPhone } = await serveGateway(t)
    const other = await addPhone()
    await other.fetch('/file/a.png', put(PNG))
    for (const type of ['Image', 'File', 'Group', 'Text']) {
      const body = JSON.stringify({ type, text: 'preview', dataName: 'a.png', hasData: true })
      const response = await phone.fetch('/Sync.json', put(body))
      assert.equal(response.status, 404)
      assert.equal((await readObject(response))['code'], 'NOTHING_STAGED')
    }
    assert.equal((await phone.document())['text'], '')
  })

  // Protocol: One that a client made is stored and served as it came
  it('keeps a Group as the bytes that came, under the hash that its client made', async (t) => {
    const { phone } = await serveGateway(t)
    const zip = Buffer.from('PK\x03\x04 opaque')
    await phone.fetch('/file/two.zip', put(zip))
    const body = JSON.stringify({ type: 'Group', text: 'a\nb', dataName: 'two.zip', hash: 'abCD' })
    assert.equal((await phone.fetch('/SyncClipboard.json', put(body))).status, 200)
    const document = await readObject(await phone.fetch('/SyncClipboard.json'))
    assert.deepEqual([document['hash'], document['text']], ['ABCD', 'a\nb'])
    assert.deepEqual(await phone.download(), zip)
  })
})

describe('a client of version 1 or 2', () => {
  const read = async (phone: Phone, path = '/SyncClipboard.json') =>
    readObject(await phone.fetch(path))
  const push = (phone: Phone, body: unknown) =>
    phone.fetch('/SyncClipboard.json', { method: 'PUT', body: JSON.stringify(body) })

  // Protocol: clients of versions 1 and 2 get the keys that they know
  it('reads the keys that it writes, and nobody else does', async (t) => {
    const { phone, addPhone } = await serveGateway(t)
    const other = await addPhone()
    assert.equal('Clipboard' in (await read(phone)), false)
    await push(phone, { File: '', Clipboard: 'old', Type: 'Text' })
    await other.pushText('from the desk')
    const document = await read(phone)
    assert.deepEqual(
      [document['Type'], document['Clipboard'], document['File']],
      ['Text', 'from the desk', ''],
    )
    assert.equal(document['text'], 'from the desk')
    assert.equal('Clipboard' in (await read(other)), false)
    assert.equal('Clipboard' in (await read(phone, '/Sync.json')), false)
  })

  it('is one no more once it writes the present ones', async (t) => {
    const { phone } = await serveGateway(t)
    await push(phone, { File: '', Clipboard: 'old', Type: 'Text' })
    const old = await phone.fetch('/SyncClipboard.json')
    assert.equal('Clipboard' in (await readObject(old)), true)
    await push(phone, { type: 'Text', text: 'old' })
    const headers = { 'If-None-Match': old.headers.get('etag') ?? '' }
    const present = await phone.fetch('/SyncClipboard.json', { headers })
    assert.equal(present.status, 200, 'it has another tag')
    assert.equal('Clipboard' in (await readObject(present)), false)
  })
})
