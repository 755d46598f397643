/**
 * The service document's tables of fields, row by row: each field is there, of its type.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { readObject } from '../../support/phone.ts'
import { PNG, put } from './conversation.ts'
import { sha256 } from './history-rows.ts'
import type { RowCheck, TableChecks } from './row-check.ts'
import { openStation, type Station } from './station.ts'

type Read = (at: Station) => Promise<Record<string, unknown>>

const ITEM_TYPES = ['Text', 'Image', 'File', 'Group']

/** Types as the document calls them. */
const IS_OF_TYPE: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  'string, one of the item types': (value) => ITEM_TYPES.includes(String(value)),
  'string, date-time': isDateTime,
  'string, date-time (ISO 8601)': isDateTime,
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  number: (value) => typeof value === 'number',
}

const readDocument: Read = ({ phone }) => phone.document()

const pushDocument: Read = async ({ phone }) =>
  readObject(await phone.fetch('/Sync.json', put('{"type":"Text","text":"a"}')))

const readRecord: Read = async ({ phone }) =>
  readObject(await phone.fetch(`/api/history/Image-${sha256(PNG)}`))

const readStatistics: Read = async ({ phone }) =>
  readObject(await phone.fetch('/api/history/statistics'))

const clear: Read = async ({ phone }) =>
  readObject(await phone.fetch('/api/history/clear', { method: 'DELETE' }))

export const SERVICE_FIELD_CHECKS: readonly TableChecks[] = [
  fields('Clipboard document (wire document of /Sync.json)', readDocument, {
    type: 'string',
    text: 'string',
    hasData: 'boolean',
    size: 'integer',
    hash: 'string',
    dataName: 'string',
  }),
  fields('Push result (response of PUT /Sync.json)', pushDocument, { contentId: 'string' }),
  fields('History record (responses of history endpoints)', readRecord, {
    hash: 'string',
    type: 'string, one of the item types',
    text: 'string',
    createTime: 'string, date-time (ISO 8601)',
    lastModified: 'string, date-time',
    lastAccessed: 'string, date-time',
    starred: 'boolean',
    pinned: 'boolean',
    size: 'integer',
    hasData: 'boolean',
    version: 'integer',
    isDeleted: 'boolean',
  }),
  fields('History statistics', readStatistics, {
    totalCount: 'integer',
    starredCount: 'integer',
    deletedCount: 'integer',
    activeCount: 'integer',
    totalFileSizeMb: 'number',
  }),
  fields('Clear result (response of DELETE /api/history/clear)', clear, { deleted: 'integer' }),
]

function fields(section: string, read: Read, types: Readonly<Record<string, string>>): TableChecks {
  const rows = Object.entries(types).map(([name, type]): [string, RowCheck] => [
    `${name} | ${type}`,
    async (t) => {
      const at = await openStation(t)
      await at.phone.pushFile('Image', 'a.png', PNG)
      const value = (await read(at))[name]
      assert.ok(
        IS_OF_TYPE[type]?.(value),
        `${name} is ${JSON.stringify(value)}, not of the type ${type}`,
      )
    },
  ])
  return { section, columns: ['Field', 'Type'], rows: Object.fromEntries(rows) }
}

function isDateTime(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*Z$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  )
}
