/**
 * docs/protocol.md about the history endpoints, row by row.
 * @module
 */

import assert from 'node:assert/strict'
import { sha256 } from '../../support/hashes.ts'
import { readObject } from '../../support/phone.ts'
import { assertText, PNG, put } from './conversation.ts'
import { form, post } from './history-rows.ts'
import type { RowCheck } from './row-check.ts'
import { openStation, type Station } from './station.ts'

const HASH = sha256(PNG)

const REFERENCE_CLIENT = { 'user-agent': 'SyncClipboard/3.1.0' }

/** A row about fields of a record: they have this type, and the value that the row says. */
export const hasRecordFields: RowCheck = async (t, [names = '', type = '', meaning = '']) => {
  const at = await withImage(t)
  const record = await readObject(await at.phone.fetch(`/api/history/Image-${HASH}`))
  const document = await at.phone.document()
  for (const name of names.replaceAll('`', '').split(', ')) {
    const value = record[name]
    assert.ok(type === 'integer' ? Number.isInteger(value) : typeof value === type, name)
    if (meaning === 'as in the document') assert.equal(value, document[name])
    if (/^(false|0)$/.test(meaning)) assert.equal(String(value), meaning)
    if (meaning.startsWith("the item's activation")) {
      assert.equal(value, new Date(at.clock.now()).toISOString())
    }
  }
}

export const DIALECT_ROWS: Readonly<Record<string, RowCheck>> = {
  sync: async (t) => {
    const { phone } = await withImage(t)
    const status = async (id: string) => (await phone.fetch(`/api/history/${id}`)).status
    assert.equal(await status('Image-00'), 200)
    assert.equal(await status('File-00'), 404, 'of exactly that type')
    assert.equal(await status(`File-${HASH}`), 200)
  },
  syncclipboard: async (t) => {
    const { phone } = await withImage(t)
    const headers = REFERENCE_CLIENT
    assert.equal((await phone.fetch('/api/history/Image-00', { headers })).status, 404)
    assert.equal((await phone.fetch(`/api/history/Image-${HASH}`, { headers })).status, 200)
    // Who used the document path of that dialect speaks it elsewhere, too.
    await phone.fetch('/SyncClipboard.json')
    assert.equal((await phone.fetch('/api/history/Image-00')).status, 404)
  },
}

export const FILTER_ROWS: Readonly<Record<string, RowCheck>> = {
  page: lets([{}, { page: 0 }, { page: 1 }, { page: 'all' }], [{ page: 2 }, { page: 99 }]),
  types: lets(
    [{ types: 'text,IMAGE' }, { types: 'All' }, { types: 2 }, { types: 4 }, { types: 'pictures' }],
    [{ types: 'Text' }, { types: 'FileAndGroup' }, { types: 'None' }, { types: 9 }],
  ),
  starred: lets([{ starred: false }, { starred: 'maybe' }], [{ starred: true }]),
  'before, after, modifiedAfter': async (t, cells) => {
    // The moment at which the clock of the tests begins, and its neighbours.
    const [earlier, now, later] = ['788', '789', '790'].map((ms) => `2026-01-31T12:34:56.${ms}Z`)
    const passing = [{ before: later }, { after: earlier }, { modifiedAfter: earlier }]
    const failing = [{ before: now }, { after: now }, { modifiedAfter: now }]
    await lets([...passing, { before: 'soon' }], failing)(t, cells)
  },
  searchText: lets([{ searchText: 'A.PN' }, { searchText: '' }], [{ searchText: 'another' }]),
}

/** Shows which queries find an image called `a.png`, and which do not. */
function lets(finding: readonly object[], missing: readonly object[]): RowCheck {
  return async (t) => {
    const { phone } = await withImage(t)
    const count = async (query: object): Promise<number> => {
      const asking = { method: 'POST', body: JSON.stringify(query) }
      const response = await phone.fetch('/api/history/query', asking)
      const found: unknown = await response.json()
      assert.ok(Array.isArray(found), 'a list')
      return found.length
    }
    for (const query of finding) assert.equal(await count(query), 1, JSON.stringify(query))
    for (const query of missing) assert.equal(await count(query), 0, JSON.stringify(query))
  }
}

const TOLD_BACK = {
  createTime: '2020-01-01T00:00:00.000Z',
  lastModified: '2020-01-02T00:00:00.000Z',
  lastAccessed: '2020-01-03T00:00:00.000Z',
  starred: true,
  pinned: true,
  version: 7,
  isDeleted: true,
}

export const PUSHED_FIELD_ROWS: Readonly<Record<string, RowCheck>> = {
  type: async (t) => {
    const at = await openStation(t)
    assert.equal(await refusal(at, { hash: '00' }), 400)
    assert.equal(await refusal(at, { type: 'Movie', hash: '00' }), 400)
    await post(at, new URLSearchParams({ TYPE: 'text', hash: '00', text: 'hello' }))
    await assertText(at, 'hello')
  },
  hash: async (t) => {
    const at = await openStation(t)
    assert.equal(await refusal(at, { type: 'Text', text: 'hello' }), 400)
    const fields = { type: 'Text', hash: 'MyOwn', text: 'hello' }
    const record = await post(at, new URLSearchParams(fields))
    assert.equal(record['hash'], 'MyOwn')
    assert.equal((await at.phone.fetch('/api/history/Text-myown')).status, 200, 'an alias')
  },
  'text, dataName, hasData': async (t) => {
    const at = await openStation(t)
    await at.phone.fetch('/file/a', put('bytes'))
    const fields = { type: 'File', hash: '00', text: 'A file', dataName: 'a', hasData: 'true' }
    await post(at, new URLSearchParams(fields))
    const { text, dataName } = await at.phone.document()
    assert.deepEqual({ text, dataName }, { text: 'A file', dataName: 'a' })
    assert.equal(await refusal(at, { ...fields, dataName: '../a' }), 400)
  },
  'createTime, lastModified, lastAccessed, starred, pinned, version, isDeleted': async (t) => {
    const at = await openStation(t)
    const send = (fields: object) =>
      post(at, new URLSearchParams({ type: 'Text', hash: '00', text: 'a', ...stringify(fields) }))
    const told = await send(TOLD_BACK)
    for (const [name, value] of Object.entries(TOLD_BACK)) assert.equal(told[name], value)
    const record = await send({ starred: '?', version: '?', createTime: '?' })
    assert.equal(record['starred'], false)
    assert.equal(record['version'], 0)
    assert.equal(record['createTime'], new Date(at.clock.now()).toISOString())
  },
  size: async (t) => {
    const at = await openStation(t)
    const record = await post(at, form({ type: 'File', hash: '00', size: '99' }, PNG, 'a'))
    assert.equal(record['size'], PNG.length)
  },
  data: async (t) => {
    const at = await openStation(t)
    await post(at, form({ type: 'File', hash: '00' }, Buffer.from('bytes'), 'a'))
    assert.equal((await at.phone.download()).toString(), 'bytes')
  },
}

async function withImage(t: Parameters<RowCheck>[0]): Promise<Station> {
  const at = await openStation(t)
  await at.phone.pushFile('Image', 'a.png', PNG)
  return at
}

type Fields = Readonly<Record<string, string>>

async function refusal({ phone }: Station, fields: Fields): Promise<number> {
  const body = new URLSearchParams(fields)
  return (await phone.fetch('/api/history', { method: 'POST', body })).status
}

function stringify(fields: object): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))
}
