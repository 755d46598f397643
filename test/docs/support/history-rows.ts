/**
 * docs/protocol.md about the history endpoints, row by row.
 * @module
 */

import assert from 'node:assert/strict'
import { GIB, MIB } from '../../../src/core/limits.ts'
import { sha256 } from '../../support/hashes.ts'
import { readObject } from '../../support/phone.ts'
import { assertLargest, assertProtected, assertText, ownHeaders, PNG } from './conversation.ts'
import type { RowCheck } from './row-check.ts'
import { openStation, type Station } from './station.ts'

const STRANGE = 'f'.repeat(64)

const FORM = 'application/x-www-form-urlencoded'

const MULTIPART = 'multipart/form-data; boundary=x'

export const HISTORY_ROWS: Readonly<Record<string, RowCheck>> = {
  'POST /api/history': async (t) => {
    const at = await openStation(t)
    await assertProtected(at, 'POST', '/api/history')
    const fields = { type: 'Text', hash: sha256('hello'), text: 'hello' }
    const { type: told, hash } = await post(at, new URLSearchParams(fields))
    assert.deepEqual([told, hash], ['Text', fields.hash])
    await assertText(at, 'hello')

    const image = await post(at, form({ type: 'File', hash: sha256(PNG) }, PNG, 'photo'))
    assert.equal(image['size'], PNG.length)
    const { type, dataName } = await at.phone.document()
    assert.deepEqual([type, dataName], ['Image', 'photo'], 'it is called an image')
    assert.deepEqual(await at.phone.download(), PNG)

    await assertLargest(at, 16 * MIB, 'POST', '/api/history', FORM)
    // Fields have their own room beside the file.
    await assertLargest(at, 10 * GIB + 16 * MIB, 'POST', '/api/history', MULTIPART)
  },

  'POST /api/history/query': async (t) => {
    const at = await openStation(t)
    await assertProtected(at, 'POST', '/api/history/query')
    const query = async (): Promise<unknown> =>
      (await at.phone.fetch('/api/history/query', { method: 'POST' })).json()
    assert.deepEqual(await query(), [])
    await at.phone.pushText('older')
    await at.phone.pushText('hello')
    const { hash } = await at.phone.document()
    const record = await readObject(await at.phone.fetch(`/api/history/Text-${hash}`))
    assert.equal(record['text'], 'hello')
    assert.deepEqual(await query(), [record])
  },

  'GET /api/history/statistics': async (t) => {
    const at = await openStation(t)
    await assertProtected(at, 'GET', '/api/history/statistics')
    const read = async () => readObject(await at.phone.fetch('/api/history/statistics'))
    const counts = { totalCount: 0, starredCount: 0, deletedCount: 0, activeCount: 0 }
    assert.deepEqual(await read(), { ...counts, totalFileSizeMb: 0, totalFileSizeMB: 0 })
    await at.phone.pushFile('File', 'a', Buffer.alloc(MIB / 2))
    const one = { ...counts, totalCount: 1, activeCount: 1 }
    assert.deepEqual(await read(), { ...one, totalFileSizeMb: 0.5, totalFileSizeMB: 0.5 })
  },

  'GET /api/history/{profileId}': async (t) => {
    const at = await openStation(t)
    await assertProtected(at, 'GET', '/api/history/Text-00')
    await at.phone.pushText('older')
    const older = (await at.phone.document())['hash']
    await at.phone.pushText('hello')
    const { hash } = await at.phone.document()
    const record = await readObject(await at.phone.fetch(`/api/history/Text-${hash}`))
    assert.deepEqual([record['type'], record['text']], ['Text', 'hello'])
    const { status } = await at.phone.fetch(`/api/history/Text-${older}`)
    assert.equal(status, 404, 'the latest only')
    for (const type of ['Image', 'File'] as const) {
      await at.phone.pushFile(type, 'a', Buffer.from('bytes'))
      const other = await readObject(await at.phone.fetch(`/api/history/${type}-${STRANGE}`))
      assert.equal(other['type'], type, 'the type is enough')
    }
  },

  'GET /api/history/{profileId}/data': async (t) => {
    const at = await openStation(t)
    await assertProtected(at, 'GET', '/api/history/Image-00/data')
    await at.phone.pushFile('Image', 'a.png', PNG)
    const bytes = await at.phone.fetch(`/api/history/Image-${sha256(PNG)}/data`)
    const same = await at.phone.fetch('/file/a.png')
    assert.deepEqual(Buffer.from(await bytes.arrayBuffer()), PNG)
    assert.deepEqual(ownHeaders(bytes), ownHeaders(same))
    await at.phone.pushText('hello')
    assert.equal((await at.phone.fetch(`/api/history/Text-${sha256('hello')}/data`)).status, 404)
  },

  'PATCH /api/history/{type}/{hash}': async (t) => {
    const at = await openStation(t)
    await assertProtected(at, 'PATCH', '/api/history/Text/00')
    await at.phone.pushText('hello')
    const hash = sha256('hello')
    const init = { method: 'PATCH', body: '{"starred":true,"isDeleted":true}' }
    const patch = (type: string, id: string) => at.phone.fetch(`/api/history/${type}/${id}`, init)
    for (const id of [hash, `Text-${hash}`]) {
      const { starred, isDeleted, text } = await readObject(await patch('Text', id))
      assert.deepEqual([starred, isDeleted, text], [false, false, 'hello'])
    }
    assert.equal((await patch('Movie', hash)).status, 400)
    assert.equal((await patch('Text', STRANGE)).status, 404)
    await assertText(at, 'hello')
  },

  'DELETE /api/history/clear': async (t) => {
    const at = await openStation(t)
    await assertProtected(at, 'DELETE', '/api/history/clear')
    await at.phone.pushText('hello')
    const response = await at.phone.fetch('/api/history/clear', { method: 'DELETE' })
    assert.equal(response.headers.get('content-type'), 'application/json')
    assert.deepEqual(await response.json(), { deleted: 0 })
    await assertText(at, 'hello')
  },
}

/** A multipart form whose part `data` is a file. */
export function form(
  fields: Readonly<Record<string, string>>,
  bytes: Uint8Array,
  fileName: string,
): FormData {
  const made = new FormData()
  for (const [name, value] of Object.entries(fields)) made.append(name, value)
  made.append('data', new Blob([bytes]), fileName)
  return made
}

/** Posts a record, and reads the one that is answered. */
export async function post(
  { phone }: Station,
  body: FormData | URLSearchParams,
): Promise<Record<string, unknown>> {
  const response = await phone.fetch('/api/history', { method: 'POST', body })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'application/json')
  return readObject(response)
}
