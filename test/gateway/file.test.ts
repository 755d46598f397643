import assert from 'node:assert/strict'
import { get } from 'node:http'
import { describe, it } from 'node:test'
import { serveGateway } from '../support/gateway.ts'
import { md5, sha256 } from '../support/hashes.ts'
import { readObject, type Phone } from '../support/phone.ts'
import { RawClient } from '../support/raw-http.ts'

const PNG = Buffer.from('\x89PNG\r\n\x1a\n and so on', 'latin1')

const put = (body: string | Uint8Array, headers: Record<string, string> = {}) => ({
  method: 'PUT',
  body,
  headers,
})

/** The status of a GET whose path goes out as it is. */
function rawStatus(url: string, path: string, authorization: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { path, headers: { authorization } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    }).on('error', reject)
  })
}

describe('PUT /file/{dataName}', () => {
  it('stages, and answers with nothing', async (t) => {
    const { phone, countWaiting } = await serveGateway(t)
    const response = await phone.fetch('/file/a.bin', put('hello'))
    assert.equal(response.status, 200)
    assert.equal(await response.text(), '')
    assert.equal(countWaiting(), 1)
    assert.equal((await phone.fetch('/file/a.bin')).status, 404, 'staged names are not readable')
  })

  // Protocol: as soon as the device sends another `PUT` of that name
  it('keeps a document from an earlier one of its name, also where it fails', async (t) => {
    const { addPhone } = await serveGateway(t, { maxFileBytes: 10 })
    const hash = sha256('its own way of hashing')
    const pushes = async (phone: Phone, hash: string) => {
      const document = { type: 'File', dataName: 'a', hash, hasData: true }
      return (await phone.fetch('/Sync.json', put(JSON.stringify(document)))).status
    }
    const spoilt = { 'repr-digest': `sha-256=:${Buffer.alloc(32).toString('base64')}:` }
    for (const [status, body, fields] of [
      [400, 'newer', spoilt],
      [400, 'newer', { ...spoilt, 'upload-complete': '?1' }],
      [400, 'newer', { 'content-range': 'bytes 0-4/5' }],
      [413, 'too large a file', {}],
      [415, 'newer', { 'content-encoding': 'gzip' }],
    ] as const) {
      const phone = await addPhone()
      await phone.fetch('/file/a', put('older'))
      assert.equal((await phone.fetch('/file/a', put(body, fields))).status, status)
      const both = [await pushes(phone, hash), await pushes(phone, sha256('older'))]
      assert.deepEqual(both, [404, 200])
    }
  })

  // Protocol: Every upload counts as bound
  it('keeps what hashes as we do from all that its hash does not fit, and no other program', async (t) => {
    const { phone } = await serveGateway(t)
    const pushes = async (hash: string) => {
      const document = { type: 'File', dataName: 'a', hash, hasData: true }
      return (await phone.fetch('/Sync.json', put(JSON.stringify(document)))).status
    }
    const uploads = (body: string) => phone.fetch('/file/a', put(body))
    const own = (body: string) => sha256(`in a way of its own ${body}`)
    await uploads('first')
    assert.equal(await pushes(sha256('first')), 200)
    // Nothing is seen of the next upload: it was refused to a stranger, or never left the phone.
    await uploads('older')
    await phone.fetch('/file/a', put('newer', { 'content-encoding': 'gzip' }))
    assert.equal(await pushes(sha256('newer')), 404)
    await uploads('older')
    assert.deepEqual([await pushes(sha256('newer')), await pushes(sha256('newer'))], [404, 404])
    assert.equal((await phone.download()).toString(), 'first')
    assert.equal(await pushes(sha256('older')), 200)

    // Another program of the device fails once, and never again.
    await uploads('one')
    assert.equal(await pushes(own('one')), 404)
    for (const body of ['one', 'two']) {
      await uploads(body)
      assert.equal(await pushes(own(body)), 200)
      assert.equal((await phone.download()).toString(), body)
      await uploads('right')
      assert.equal(await pushes(sha256('right')), 200)
    }
  })

  it('binds an earlier upload of its name also when its own header is malformed', async (t) => {
    const { phone } = await serveGateway(t)
    const put = (path: string, body: string, headers = {}) =>
      phone.fetch(path, { method: 'PUT', body, headers })
    assert.equal((await put('/file/a', 'one')).status, 200)
    assert.equal((await put('/file/a', 'two', { 'X-Clipgate-Batch': 'x' })).status, 400)
    const document = { type: 'File', dataName: 'a', hasData: true, hash: sha256('two') }
    assert.equal((await put('/Sync.json', JSON.stringify(document))).status, 404)
  })

  // Protocol: for the Image or File of a device
  it('lets a Group come whose hash is not that of its archive, whoever hashes as we do', async (t) => {
    const { phone } = await serveGateway(t)
    const pushes = async (type: string, body: string, hash: string) => {
      await phone.fetch('/file/a.zip', put(body))
      const document = { type, dataName: 'a.zip', hash, hasData: true }
      return (await phone.fetch('/Sync.json', put(JSON.stringify(document)))).status
    }
    assert.equal(await pushes('File', 'bytes', sha256('bytes')), 200)
    assert.equal(await pushes('Group', 'archive', sha256('of its files')), 200)
  })

  it('takes names that people use, byte for byte', async (t) => {
    const { phone } = await serveGateway(t)
    for (const name of [
      'a b.png',
      '100%.png',
      'a+b[1]&c=d;e.png',
      '写真 🙂.png',
      'é.png',
      'é.png',
      '.png',
      'C:x',
    ]) {
      await phone.pushFile('Image', name, PNG)
      assert.equal((await phone.document())['dataName'], name)
      assert.deepEqual(await phone.download(), PNG)
    }
  })

  it('refuses names that are paths or worse, before it reads anything', async (t) => {
    const { phone, countWaiting, url, authorization } = await serveGateway(t)
    const names = [
      '..%2fx',
      '..%5cx',
      '%252e%252e%2f',
      '%00',
      'a%0ab',
      '%C2%85',
      'a'.repeat(256),
      '%ED%A0%80',
      '%ff',
      '%',
    ]
    for (const name of names) {
      const response = await phone.fetch(`/file/${name}`, put('x'))
      assert.equal(response.status, 400, name)
    }
    // `fetch` would resolve these by itself.
    for (const name of ['%2e', '%2E%2e', '..', '.']) {
      assert.equal(await rawStatus(url, `/file/${name}`, authorization), 400, name)
    }
    assert.equal((await phone.fetch('/file/a/b', put('x'))).status, 404)
    assert.equal(countWaiting(), 0)
  })

  // Protocol: File whose upload is an image
  it('calls an image an image when the client does not know', async (t) => {
    const { phone } = await serveGateway(t)
    for (const type of ['application/octet-stream', 'image/*', 'nonsense']) {
      await phone.fetch('/file/blob', put(PNG, { 'content-type': type }))
      await phone.fetch('/Sync.json', put('{"type":"File","dataName":"blob"}'))
      assert.equal((await phone.document())['type'], 'Image')
      assert.equal((await phone.fetch('/file/blob')).headers.get('content-type'), 'image/png')
    }
  })

  // Protocol: A `PUT` with `Content-Range` is 400
  it('takes no part of a file for the whole, and reads nothing of it', async (t) => {
    const { countWaiting, port, authorization } = await serveGateway(t)
    const client = await RawClient.open(t, port)
    const fields = [
      'Host: box',
      `Authorization: ${authorization}`,
      'Expect: 100-continue',
      'Content-Length: 5',
      'Content-Range: bytes 5-9/10',
    ]
    client.send(['PUT /file/a HTTP/1.1', ...fields, '', ''].join('\r\n'))
    const { status, body } = await client.read('PUT')
    assert.equal(status, 400)
    assert.equal(JSON.parse(body).code, 'PARTIAL_BODY')
    assert.equal(countWaiting(), 0)
  })
})

describe('an upload that took the place of another one', () => {
  // Protocol: or of what it replaced
  it('is not what the document of that one means, by either hash', async (t) => {
    const bound = (bytes: string) => sha256(`a|${sha256(bytes).toUpperCase()}`)
    for (const hashOf of [sha256, bound]) {
      const { phone } = await serveGateway(t)
      const pushes = async (bytes: string) => {
        const document = { type: 'File', dataName: 'a', hash: hashOf(bytes), hasData: true }
        return (await phone.fetch('/Sync.json', put(JSON.stringify(document)))).status
      }
      for (const bytes of ['one', 'two', 'three']) await phone.fetch('/file/a', put(bytes))
      assert.deepEqual([await pushes('one'), await pushes('two')], [404, 404])
      assert.equal((await phone.document())['type'], 'Text')
      assert.equal(await pushes('three'), 200)
      assert.equal((await phone.download()).toString(), 'three')
    }
  })

  // Protocol: what replaced more than 16 uploads
  it('is not what the document of the first of many means', async (t) => {
    const { phone, addPhone } = await serveGateway(t)
    const pushes = async (hash: string, by = phone) => {
      const document = { type: 'File', dataName: 'a', hash, hasData: true }
      return (await by.fetch('/Sync.json', put(JSON.stringify(document)))).status
    }
    const uploads = async (from: number, to: number, by = phone) => {
      for (let number = from; number <= to; number++)
        await by.fetch('/file/a', put(`upload ${number}`))
    }
    const other = await addPhone()
    await uploads(1, 17, other)
    assert.equal(await pushes(sha256('upload 1'), other), 404)
    assert.equal(await pushes(sha256('upload 17 in a way of its own'), other), 200)
    assert.equal((await phone.download()).toString(), 'upload 17')
    const own = sha256('in another way')
    await uploads(1, 18)
    assert.deepEqual([await pushes(sha256('upload 1')), await pushes(own)], [404, 404])
    await uploads(19, 19)
    assert.deepEqual([await pushes(sha256('upload 2')), await pushes(own)], [404, 404])
    assert.equal(await pushes(sha256('upload 19')), 200)
    assert.equal((await phone.download()).toString(), 'upload 19')
  })
})

describe('GET /file/{dataName}', () => {
  // Protocol: by `GET` or `HEAD`, or the bytes of a record
  it('keeps a document that follows from an older upload of that name', async (t) => {
    const { phone: other, addPhone } = await serveGateway(t)
    const hash = sha256('its own way of hashing')
    const document = put(JSON.stringify({ type: 'File', dataName: 'a', hash, hasData: true }))
    for (const [method, path] of [
      ['HEAD', '/file/a'],
      ['GET', '/file/a'],
      ['HEAD', '/api/history/File-unknown/data'],
      ['GET', `/api/history/File-${hash}`],
    ] as const) {
      const phone = await addPhone()
      const pushes = async () => (await phone.fetch('/Sync.json', document)).status
      await phone.fetch('/file/a', put('older'))
      await other.pushFile('File', 'a', Buffer.from('of another one'))
      assert.equal((await phone.fetch(path, { method })).status, 200)
      assert.equal(await pushes(), 404, `${method} ${path}`)
      assert.equal((await phone.download()).toString(), 'of another one')
      await phone.fetch('/file/a', put('newer'))
      assert.equal(await pushes(), 200)
      assert.equal((await phone.download()).toString(), 'newer')
    }
  })

  // Protocol: is neither the SHA-256 nor the name-bound hash
  it('keeps no document from the upload of a device that read what it names', async (t) => {
    const { phone, addPhone } = await serveGateway(t)
    await (await addPhone()).pushFile('File', 'a', Buffer.from('of another one'))
    await phone.fetch('/file/b', put('bytes'))
    await phone.fetch(`/api/history/File-${sha256('of another one')}`)
    const hash = sha256('its own way of hashing')
    const document = JSON.stringify({ type: 'File', dataName: 'b', hash, hasData: true })
    assert.equal((await phone.fetch('/Sync.json', put(document))).status, 200)
    assert.equal((await phone.download()).toString(), 'bytes')
  })

  // Protocol: but not an upload that began after that item had
  it('keeps no document from an upload of its name that came after what is current', async (t) => {
    const { phone, addPhone, clock } = await serveGateway(t)
    const document = (hash: string) =>
      put(JSON.stringify({ type: 'File', dataName: 'a', hash, hasData: true }))
    const other = Buffer.from('of another one')
    for (const method of ['HEAD', 'GET']) {
      for (const hashOf of [md5, (bytes: string) => sha256(`own ${bytes}`)]) {
        await (await addPhone()).pushFile('File', 'a', other)
        clock.advance(1)
        const bytes = `${method} ${hashOf('')}`
        await phone.fetch('/file/a', put(bytes))
        assert.equal((await phone.fetch('/file/a', { method })).status, 200)
        assert.equal((await phone.fetch('/Sync.json', document(hashOf(bytes)))).status, 200)
        assert.equal((await phone.download()).toString(), bytes)
      }
    }
    // It was told that bytes are here, which are not current.
    await phone.pushText('current')
    clock.advance(1)
    await phone.fetch('/file/a', put('its own'))
    await phone.fetch('/file/a', { method: 'HEAD' })
    assert.equal((await phone.fetch('/Sync.json', document(sha256('own')))).status, 404)

    // It pushes back what it has read, in the way of version 2.
    await (await addPhone()).pushFile('File', 'a', other)
    clock.advance(1)
    await phone.fetch('/file/a', put('its own'))
    await phone.fetch('/file/a')
    assert.equal((await phone.fetch('/Sync.json', document(md5('of another one')))).status, 200)
    assert.equal((await phone.download()).toString(), 'of another one')
  })

  it('tells an older upload from a newer one, however the clock was set', async (t) => {
    const hash = sha256('its own way of hashing')
    const document = put(JSON.stringify({ type: 'File', dataName: 'a', hash, hasData: true }))
    for (const hours of [-1, 1]) {
      const { phone, addPhone, clock } = await serveGateway(t)
      const other = await addPhone()
      const pushes = async () => {
        await phone.fetch('/file/a')
        const { status } = await phone.fetch('/Sync.json', document)
        return [status, (await phone.download()).toString()]
      }
      await phone.fetch('/file/a', put('older'))
      clock.jump(hours * 3_600_000)
      await other.pushFile('File', 'a', Buffer.from('of another one'))
      assert.deepEqual(await pushes(), [404, 'of another one'])
      clock.jump(hours * 3_600_000)
      await phone.fetch('/file/a', put('newer'))
      assert.deepEqual(await pushes(), [200, 'newer'])
    }
  })

  it('keeps none from an upload when it answers 404', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.pushFile('File', 'b', Buffer.from('here'))
    await phone.fetch('/file/a', put('bytes'))
    assert.equal((await phone.fetch('/file/a')).status, 404)
    const hash = sha256('its own way of hashing')
    const document = JSON.stringify({ type: 'File', dataName: 'a', hash, hasData: true })
    assert.equal((await phone.fetch('/Sync.json', put(document))).status, 200)
    assert.equal((await phone.download()).toString(), 'bytes')
  })

  // Protocol: so that no browser runs what somebody uploaded
  it('answers with the bytes, for downloading and never for running', async (t) => {
    const { phone } = await serveGateway(t)
    const html = Buffer.from('<script>alert(1)</script>')
    await phone.fetch('/file/é".html', put(html, { 'content-type': 'text/html' }))
    await phone.fetch('/Sync.json', put('{"type":"File","dataName":"é\\".html"}'))
    const response = await phone.fetch('/file/é".html')
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), html)
    const header = (name: string) => response.headers.get(name)
    assert.equal(header('content-type'), 'text/html')
    assert.equal(header('content-length'), String(html.length))
    assert.match(
      header('content-disposition') ?? '',
      /^attachment;.*filename\*=UTF-8''%C3%A9%22\.html/,
    )
    assert.equal(header('content-security-policy'), "sandbox; default-src 'none'")
    assert.equal(header('x-content-type-options'), 'nosniff')
    assert.equal(header('accept-ranges'), 'bytes')
    assert.match(header('etag') ?? '', /^"[0-9a-f]{64}"$/)
    assert.equal(header('last-modified'), null)
  })

  // Protocol: A single range gives 206
  it('answers a range, and the whole to what is no single range', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.pushFile('File', 'a', Buffer.from('0123456789'))
    const get = async (range: string, headers: Record<string, string> = {}) => {
      const response = await phone.fetch('/file/a', { headers: { range, ...headers } })
      return [response.status, response.headers.get('content-range'), await response.text()]
    }
    assert.deepEqual(await get('bytes=2-4'), [206, 'bytes 2-4/10', '234'])
    assert.deepEqual(await get('bytes=-3'), [206, 'bytes 7-9/10', '789'])
    assert.deepEqual(await get('bytes=8-'), [206, 'bytes 8-9/10', '89'])
    assert.deepEqual(await get('bytes=0-1,3-4'), [200, null, '0123456789'])
    assert.deepEqual(await get('lines=1-2'), [200, null, '0123456789'])
    assert.deepEqual(await get('bytes=2-4', { 'if-range': '"other"' }), [200, null, '0123456789'])
    assert.deepEqual((await get('bytes=10-')).slice(0, 2), [416, 'bytes */10'])
  })

  // Protocol: with the bytes of the binary item when that is its name
  it('knows the latest item with bytes only, also after a text was pushed', async (t) => {
    const { phone } = await serveGateway(t)
    assert.equal((await phone.fetch('/file/a')).status, 404)
    await phone.pushFile('File', 'a', Buffer.from('one'))
    await phone.pushText('hello')
    assert.equal((await phone.fetch('/file/a')).status, 200)
    await phone.pushFile('File', 'b', Buffer.from('two'))
    assert.equal((await phone.fetch('/file/a')).status, 404)
    assert.equal((await phone.fetch('/file/B')).status, 404)
  })

  it('answers 404 when the file was taken away', async (t) => {
    const { phone, latest } = await serveGateway(t)
    await phone.pushFile('File', 'a', Buffer.from('one'))
    const blob = latest.binary?.blob
    assert.ok(blob !== undefined && 'discard' in blob && typeof blob.discard === 'function')
    await blob.discard()
    const response = await phone.fetch('/file/a')
    assert.equal(response.status, 404)
    assert.equal((await readObject(response))['code'], 'NOT_FOUND')
  })
})
