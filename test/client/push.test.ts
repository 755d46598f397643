import assert from 'node:assert/strict'
import { openAsBlob } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc, { forAllAsync } from '../support/property.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-folder.ts'
import {
  accept,
  CONTENT_ID,
  json,
  startFakeGateway,
  type Received,
} from './support/fake-gateway.ts'
import { MIB } from '../../src/core/limits.ts'

/** The document of a push. */
function documentOf(request: Received | undefined): Record<string, unknown> {
  assert.equal(request?.method, 'PUT')
  assert.equal(request.url, '/Sync.json')
  assert.equal(request.headers['content-type'], 'application/json')
  return JSON.parse(request.body.toString())
}

describe('pushText()', () => {
  it('sends the text, and gives its content id', async (t) => {
    const { client, received } = await startFakeGateway(t, accept)
    assert.equal(await client.pushText('hello'), CONTENT_ID)
    assert.deepEqual(documentOf(received[0]), { type: 'Text', text: 'hello', hasData: false })
    assert.equal(received.length, 1)
  })

  it('sends any text unchanged', async (t) => {
    const { client, received } = await startFakeGateway(t, accept)
    await forAllAsync(fc.string({ unit: 'binary' }), async (text) => {
      await client.pushText(text)
      assert.equal(documentOf(received.at(-1))['text'], text)
    })
  })

  it('replaces halves of surrogate pairs, which nobody can send', async (t) => {
    const { client, received } = await startFakeGateway(t, accept)
    await client.pushText('a\ud800b')
    assert.equal(documentOf(received[0])['text'], 'a\ufffdb')
  })

  it('sends a text as a file when its JSON might be over the limit of the server', async (t) => {
    const { client, received } = await startFakeGateway(t, accept)
    const text = `${'€'.repeat(255)}📱${'"\n'.repeat(4 * MIB)}`
    assert.equal(await client.pushText(text), CONTENT_ID)
    const [upload, push] = received
    assert.match(upload?.url ?? '', /^\/file\/clipboard-[0-9a-f]{16}\.txt$/)
    assert.equal(upload?.headers['content-type'], 'text/plain; charset=utf-8')
    assert.ok(upload?.body.equals(Buffer.from(text)))
    assert.deepEqual(documentOf(push), {
      type: 'Text',
      text: `${'€'.repeat(255)}\ufffd`,
      hasData: true,
      dataName: upload?.url?.slice('/file/'.length),
      size: Buffer.byteLength(text),
    })
  })

  it('gives long texts different names, so that none replaces another', async (t) => {
    const { client, received } = await startFakeGateway(t, accept)
    const text = 'x'.repeat(15 * MIB)
    await Promise.all([client.pushText(text), client.pushText(text)])
    assert.equal(new Set(received.map(({ url }) => url)).size, 3)
  })

  it('sends a text of just under the limit inline', async (t) => {
    const { client, received } = await startFakeGateway(t, accept)
    const overhead = JSON.stringify({ type: 'Text', text: '', hasData: false }).length
    await client.pushText('x'.repeat(15 * MIB - overhead))
    assert.deepEqual(
      received.map(({ url }) => url),
      ['/Sync.json'],
    )
  })

  it('refuses an answer without a content id', async (t) => {
    const answers = [{}, null, [], { contentId: 'x' }, { contentId: null }, 'x'.repeat(70_000)]
    for (const answer of answers) {
      const { client } = await startFakeGateway(t, json(answer))
      await assert.rejects(client.pushText('x'), { name: 'ClientError', code: 'BAD_ANSWER' })
    }
  })

  it('rejects with the reason of the caller who aborts it', async (t) => {
    const controller = new AbortController()
    const reason = new Error('Changed my mind')
    const { client } = await startFakeGateway(t, () => controller.abort(reason))
    await assert.rejects(client.pushText('x', { signal: controller.signal }), reason)
  })
})

describe('pushFile()', () => {
  it('uploads the bytes, and then sends the document', async (t) => {
    const { client, received } = await startFakeGateway(t, accept)
    const blob = new Blob(['%PDF'], { type: 'application/pdf' })
    assert.equal(await client.pushFile(blob, { dataName: 'a b.pdf' }), CONTENT_ID)
    const [upload, push] = received
    assert.deepEqual([upload?.method, upload?.url], ['PUT', '/file/a%20b.pdf'])
    assert.equal(upload?.headers['content-length'], '4')
    assert.equal(upload?.headers['content-type'], 'application/pdf')
    assert.equal(upload?.body.toString(), '%PDF')
    assert.deepEqual(documentOf(push), {
      type: 'File',
      text: 'a b.pdf',
      hasData: true,
      dataName: 'a b.pdf',
      size: 4,
    })
  })

  it('sends the media type that it was told, else says nothing about it', async (t) => {
    const { client, received } = await startFakeGateway(t, accept)
    const typed = new Blob(['x'], { type: 'application/pdf' })
    await client.pushFile(typed, { dataName: 'x', mediaType: 'image/png' })
    await client.pushFile(new Blob(['x']), { dataName: 'x' })
    const uploads = received.filter(({ url }) => url === '/file/x')
    const types = uploads.map(({ headers }) => headers['content-type'])
    assert.deepEqual(types, ['image/png', 'application/octet-stream'])
  })

  it('streams a file of the disk, also an empty one', async (t) => {
    const folder = await temporaryFolder(t)
    const { client, received } = await startFakeGateway(t, accept)
    for (const size of [3 * MIB, 0]) {
      const path = join(folder, `${size}.bin`)
      await writeFile(path, Buffer.alloc(size, 7))
      await client.pushFile(await openAsBlob(path), { dataName: 'file.bin' })
      const [upload, push] = received.slice(-2)
      assert.ok(upload?.body.equals(Buffer.alloc(size, 7)))
      assert.equal(upload?.headers['content-length'], String(size))
      assert.equal(upload?.headers['transfer-encoding'], undefined)
      assert.equal(documentOf(push)['size'], size)
    }
  })

  it('fails when the file changes before it is sent, and pushes nothing', async (t) => {
    const path = await temporaryFile(t, 'file.bin', 'before')
    const blob = await openAsBlob(path)
    await writeFile(path, 'after all that')
    const { client, received } = await startFakeGateway(t, accept)
    const pushed = client.pushFile(blob, { dataName: 'file.bin' })
    await assert.rejects(pushed, { code: 'SOURCE_UNREADABLE' })
    assert.deepEqual(received, [])
  })

  it('refuses names and types that cannot be sent', async (t) => {
    const { client, received } = await startFakeGateway(t, accept)
    const blob = new Blob(['x'])
    for (const dataName of ['', '.', '..', 'a/b', 'a\\b', 'a\nb', '\ud800', 'x'.repeat(256)]) {
      await assert.rejects(client.pushFile(blob, { dataName }), { code: 'ARGUMENT_INVALID' })
    }
    for (const mediaType of ['image', 'image/png\r\nX: y', 'image/€', ' /x']) {
      const options = { dataName: 'x', mediaType }
      await assert.rejects(client.pushFile(blob, options), { code: 'ARGUMENT_INVALID' })
    }
    assert.deepEqual(received, [])
  })

  it('sends no document when the upload is refused', async (t) => {
    const refuse = json({ code: 'NO_SPACE' }, { status: 507 })
    const { client, received } = await startFakeGateway(t, refuse)
    const pushed = client.pushFile(new Blob(['x']), { dataName: 'x' })
    await assert.rejects(pushed, { code: 'REFUSED', status: 507, problem: 'NO_SPACE' })
    assert.deepEqual(
      received.map(({ url }) => url),
      ['/file/x'],
    )
  })

  it('tells why an upload is refused before it was sent to its end', async (t) => {
    const headers = { Connection: 'close' }
    const early = json({ code: 'BODY_TOO_LARGE' }, { status: 413, headers })
    const { client } = await startFakeGateway(t, accept, { early })
    const pushed = client.pushFile(new Blob([new Uint8Array(32 * MIB)]), { dataName: 'x' })
    await assert.rejects(pushed, { code: 'REFUSED', status: 413, problem: 'BODY_TOO_LARGE' })
  })

  it('rejects with the reason of the caller who aborts the upload', async (t) => {
    const controller = new AbortController()
    const reason = new Error('Changed my mind')
    const early = (): void => controller.abort(reason)
    const { client } = await startFakeGateway(t, accept, { early })
    const options = { dataName: 'x', signal: controller.signal }
    await assert.rejects(client.pushFile(new Blob([new Uint8Array(32 * MIB)]), options), reason)
  })

  it('waits longer for the answer, the more there is to send', async (t) => {
    const { client } = await startFakeGateway(t, json({}, { status: 404 }), { timeoutMs: 1 })
    const pushed = client.pushFile(new Blob([new Uint8Array(7 * MIB)]), { dataName: 'x' })
    await assert.rejects(pushed, { code: 'NOT_FOUND' })
  })
})
