/**
 * The service document's table of binary payloads, row by row, with its rules for media types.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { GIB, REPEAT_PUSH_MS } from '../../../src/core/limits.ts'
import { assertProtected, ownHeaders, PNG, put } from './conversation.ts'
import type { RowCheck } from './row-check.ts'
import { openStation, type Station } from './station.ts'

const FTYP = '\0\0\0\x18ftyp'

/** Leading bytes and an extension for each image that is to be recognised. */
const IMAGES: readonly (readonly [mediaType: string, head: string, extension: string])[] = [
  ['image/jpeg', '\xff\xd8\xff\xe0', 'jpg'],
  ['image/png', '\x89PNG\r\n\x1a\n', 'png'],
  ['image/gif', 'GIF89a', 'gif'],
  ['image/webp', 'RIFF\0\0\0\0WEBP', 'webp'],
  ['image/bmp', 'BM\x01\0\0\0\0\0\0\0', 'bmp'],
  ['image/tiff', 'II*\0', 'tiff'],
  ['image/heic', `${FTYP}heic\0\0\0\0mif1heic`, 'heic'],
  ['image/heif', `${FTYP}mif1\0\0\0\0mif1miaf`, 'heif'],
]

export const BINARY_ROWS: Readonly<Record<string, RowCheck>> = {
  'GET | /file/{dataName}': async (t) => {
    const at = await openStation(t)
    await assertProtected(at, 'GET', '/file/a.png')
    await at.phone.pushFile('File', 'older', Buffer.from('older'))
    await at.phone.pushFile('Image', 'a.png', PNG)
    const response = await at.phone.fetch('/file/a.png')
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'image/png')
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), PNG)
    assert.equal((await at.phone.fetch('/file/older')).status, 404)
    await at.phone.pushFile('File', 'blob', Buffer.from('unknown'))
    assert.equal(await typeOf(at, 'blob'), 'application/octet-stream')
  },

  'HEAD | /file/{dataName}': async (t) => {
    const at = await openStation(t)
    await assertProtected(at, 'HEAD', '/file/a.png')
    await at.phone.pushFile('Image', 'a.png', PNG)
    const [get, head] = [
      await at.phone.fetch('/file/a.png'),
      await at.phone.fetch('/file/a.png', { method: 'HEAD' }),
    ]
    assert.equal(head.status, 200)
    assert.equal(await head.text(), '')
    assert.deepEqual(ownHeaders(head), ownHeaders(get))
    assert.equal((await at.phone.fetch('/file/b', { method: 'HEAD' })).status, 404)
  },

  'PUT | /file/{dataName}': async (t) => {
    const at = await openStation(t)
    await assertProtected(at, 'PUT', '/file/a')
    const response = await at.phone.fetch('/file/a', put('bytes', { 'content-type': 'text/x-own' }))
    assert.equal(response.status, 200)
    assert.equal(at.memory.count, 1, 'it waits')
    await describeFile(at, 'a')
    assert.equal(at.memory.count, 0)
    assert.equal(await typeOf(at, 'a'), 'text/x-own')
    await assertImagesAreRecognised(at)
    await assertTypeIsKept(at)
    assert.equal((await declare(at, 10 * GIB + 1)).status, 413)
    assert.equal((await declare(at, 10 * GIB)).status, 100, 'the gateway wants the bytes')
  },

  'GET | /file': async (t) => {
    const at = await openStation(t)
    await assertProtected(at, 'GET', '/file')
    assert.equal((await at.phone.fetch('/file')).status, 200)
    assert.equal((await at.phone.fetch('/file/')).status, 200)
  },

  'DELETE | /file': async (t) => {
    const at = await openStation(t)
    await assertProtected(at, 'DELETE', '/file')
    await at.phone.pushFile('File', 'a', Buffer.from('kept'))
    assert.equal((await at.phone.fetch('/file', { method: 'DELETE' })).status, 200)
    assert.equal((await at.phone.download()).toString(), 'kept')
  },
}

/** By their bytes, and where those tell nothing by their extension. */
async function assertImagesAreRecognised(at: Station): Promise<void> {
  for (const [mediaType, head, extension] of IMAGES) {
    const uploads = [
      ['blob', Buffer.from(`${head} and so on`, 'latin1')],
      [`a.${extension}`, Buffer.from('?')],
    ] as const
    for (const [name, bytes] of uploads) {
      for (const headers of [{}, { 'content-type': 'application/octet-stream' }]) {
        await at.phone.fetch(`/file/${name}`, put(bytes, headers))
        await describeFile(at, name)
        assert.equal((await at.phone.document())['type'], 'Image', mediaType)
        assert.equal(await typeOf(at, name), mediaType)
      }
    }
  }
}

async function assertTypeIsKept(at: Station): Promise<void> {
  for (const type of ['application/octet-stream', 'application/pdf']) {
    await at.phone.fetch('/file/blob', put('?', { 'content-type': type }))
    await describeFile(at, 'blob')
    assert.equal((await at.phone.document())['type'], 'File')
    assert.equal(await typeOf(at, 'blob'), type)
  }
}

async function describeFile({ phone, clock }: Station, dataName: string): Promise<void> {
  // Else the same content under the same name would count as the same push.
  clock.advance(REPEAT_PUSH_MS)
  const response = await phone.fetch('/Sync.json', put(JSON.stringify({ type: 'File', dataName })))
  assert.equal(response.status, 200)
}

async function typeOf({ phone }: Station, name: string): Promise<string | null> {
  return (await phone.fetch(`/file/${name}`, { method: 'HEAD' })).headers.get('content-type')
}

/** Announces so many bytes, and waits for leave to send them. */
export function declare(
  { ask }: Station,
  bytes: number,
  method = 'PUT',
  target = '/file/a',
  type = 'a/b',
) {
  const fields = [`Content-Length: ${bytes}`, 'Expect: 100-continue', `Content-Type: ${type}`]
  return ask({ method, target, fields })
}
