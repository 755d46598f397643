import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Download, DownloadRange } from '../../src/client.ts'
import { startFakeGateway, type Respond } from './support/fake-gateway.ts'

const BYTES = Buffer.from('0123456789')
const PNG = { dataName: 'a.png', hasData: true }

/** Answers with headers and bytes. */
function bytes(body: string | Buffer, headers: Record<string, string> = {}, status = 200): Respond {
  return (response) => {
    response.writeHead(status, { 'Content-Length': String(body.length), ...headers }).end(body)
  }
}

/** Answers with half of the bytes, and never with the rest; tells when the client hangs up. */
function stall(responses: EventEmitter = new EventEmitter()): Respond {
  return (response) => {
    response.writeHead(200, { 'Content-Length': 10 }).write('01234')
    response.on('close', () => responses.emit('close'))
  }
}

async function read({ body }: Download): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

describe('download()', () => {
  it('gives the bytes, their number, type and etag', async (t) => {
    const headers = { 'Content-Type': 'image/png', ETag: '"e"' }
    const { client, received } = await startFakeGateway(t, bytes(BYTES, headers))
    const { body, ...rest } = await client.download(PNG)
    assert.deepEqual(rest, {
      size: 10,
      offset: 0,
      totalSize: 10,
      mediaType: 'image/png',
      etag: '"e"',
    })
    assert.equal(await read({ body, ...rest }), '0123456789')
    assert.deepEqual([received[0]?.method, received[0]?.url], ['GET', '/file/a.png'])
  })

  it('encodes the name', async (t) => {
    const { client, received } = await startFakeGateway(t, bytes(BYTES))
    for (const dataName of ['a b%2f.png', '電話📱?#.png', "!'()*~"]) {
      await read(await client.download({ dataName, hasData: true }))
    }
    const names = received.map(({ url = '' }) => decodeURIComponent(url.slice('/file/'.length)))
    assert.deepEqual(names, ['a b%2f.png', '電話📱?#.png', "!'()*~"])
    assert.equal(received[0]?.url, '/file/a%20b%252f.png')
  })

  it('refuses an item without data, and a name that is a path', async (t) => {
    const { client, received } = await startFakeGateway(t, bytes(BYTES))
    const bad = [
      { dataName: '', hasData: false },
      { dataName: '..', hasData: true },
    ]
    for (const document of [...bad, { dataName: 'a/b', hasData: true }]) {
      await assert.rejects(client.download(document), { code: 'ARGUMENT_INVALID' })
    }
    assert.deepEqual(received, [])
  })

  it('gives what a server sends that tells neither number nor type', async (t) => {
    const { client } = await startFakeGateway(t, (response) => {
      response.write('01234')
      response.end('56789')
    })
    const download = await client.download(PNG)
    assert.equal(download.size, undefined)
    assert.equal(download.mediaType, 'application/octet-stream')
    assert.equal(await read(download), '0123456789')
  })

  it('does not count the bytes of an answer that a proxy compressed all the same', async (t) => {
    const packed = gzipSync(BYTES)
    const { client } = await startFakeGateway(t, bytes(packed, { 'Content-Encoding': 'gzip' }))
    const download = await client.download(PNG)
    assert.equal(download.size, undefined)
    assert.equal(await read(download), '0123456789')
  })

  it('gives an empty file', async (t) => {
    const { client } = await startFakeGateway(t, bytes(''))
    assert.equal(await read(await client.download(PNG)), '')
  })

  it('gives a range', async (t) => {
    const part = { 'Content-Range': 'bytes 2-5/10' }
    const { client, received } = await startFakeGateway(t, bytes('2345', part, 206))
    const download = await client.download(PNG, { range: { offset: 2, length: 4, etag: '"e"' } })
    assert.deepEqual([download.offset, download.size, download.totalSize], [2, 4, 10])
    assert.equal(await read(download), '2345')
    assert.equal(received[0]?.headers.range, 'bytes=2-5')
    assert.equal(received[0]?.headers['if-range'], '"e"')
  })

  it('gives the rest from an offset, of a whole whose size nobody knows', async (t) => {
    const part = { 'Content-Range': 'bytes 8-9/*' }
    const { client, received } = await startFakeGateway(t, bytes('89', part, 206))
    const download = await client.download(PNG, { range: { offset: 8 } })
    assert.deepEqual([download.size, download.totalSize], [2, undefined])
    assert.equal(received[0]?.headers.range, 'bytes=8-')
  })

  it('says so when everything comes instead of a range', async (t) => {
    const { client } = await startFakeGateway(t, bytes(BYTES))
    const download = await client.download(PNG, { range: { offset: 8, etag: '"old"' } })
    assert.deepEqual([download.offset, download.size], [0, 10])
    assert.equal(await read(download), '0123456789')
  })

  it('refuses ranges that are none', async (t) => {
    const { client, received } = await startFakeGateway(t, bytes(BYTES))
    const bad: readonly DownloadRange[] = [
      { offset: -1 },
      { offset: 0.5 },
      { offset: NaN },
      { offset: 0, length: 0 },
      { offset: 0, length: -1 },
      { offset: 0, length: 1.5 },
      { offset: 0, etag: 'e' },
    ]
    for (const range of bad) {
      await assert.rejects(client.download(PNG, { range }), { code: 'ARGUMENT_INVALID' })
    }
    assert.deepEqual(received, [])
  })

  it('refuses other bytes than those that were asked for', async (t) => {
    const range = { offset: 2 }
    const ranges = ['bytes 0-9/10', 'bytes 5-2/10', 'bytes */10', 'items 2-5/10', 'bytes 2-/10', '']
    for (const contentRange of ranges) {
      const part = { 'Content-Range': contentRange }
      const { client } = await startFakeGateway(t, bytes('2345', part, 206))
      await assert.rejects(client.download(PNG, { range }), { code: 'BAD_ANSWER', status: 206 })
    }
    for (const status of [201, 204, 206, 304]) {
      const { client } = await startFakeGateway(t, bytes('', {}, status))
      await assert.rejects(client.download(PNG), { code: 'BAD_ANSWER', status })
    }
  })

  it('fails when the server does not have it', async (t) => {
    const { client } = await startFakeGateway(t, bytes('', {}, 404))
    await assert.rejects(client.download(PNG), { code: 'NOT_FOUND' })
  })

  it('fails when fewer or more bytes come than a range has', async (t) => {
    for (const body of ['234', '23456', '']) {
      const part = { 'Content-Range': 'bytes 2-5/10' }
      const { client } = await startFakeGateway(t, bytes(body, part, 206))
      const download = await client.download(PNG, { range: { offset: 2 } })
      await assert.rejects(read(download), { name: 'ClientError', code: 'BAD_ANSWER' })
    }
  })

  it('fails when the connection breaks in the middle', async (t) => {
    const { client } = await startFakeGateway(t, (response) => {
      response.writeHead(200, { 'Content-Length': 10 }).write('01234', () => response.destroy())
    })
    const error = { name: 'ClientError', code: 'UNREACHABLE' }
    await assert.rejects(client.download(PNG).then(read), error)
  })

  it('fails when the bytes stop coming', async (t) => {
    const { client } = await startFakeGateway(t, stall(), { timeoutMs: 50 })
    const downloaded = client.download(PNG).then(read)
    await assert.rejects(downloaded, { name: 'ClientError', code: 'TIMEOUT' })
  })

  it('hangs up when the caller aborts it, and fails with their reason', async (t) => {
    const controller = new AbortController()
    const reason = new Error('Changed my mind')
    const responses = new EventEmitter()
    const { client } = await startFakeGateway(t, stall(responses))
    const { body } = await client.download(PNG, { signal: controller.signal })
    const reader = body.getReader()
    assert.equal((await reader.read()).value?.byteLength, 5)
    const hungUp = once(responses, 'close')
    controller.abort(reason)
    await assert.rejects(reader.read(), reason)
    await hungUp
  })

  it('hangs up when the caller wants no more', async (t) => {
    const responses = new EventEmitter()
    const { client } = await startFakeGateway(t, stall(responses))
    const { body } = await client.download(PNG)
    await Promise.all([once(responses, 'close'), body.cancel()])
  })
})
