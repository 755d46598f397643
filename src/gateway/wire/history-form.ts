/**
 * Wire format of `POST /api/history`, but for its file. Only this file knows its field names.
 * @module
 */

import { isDataName } from '../../core/data-name.ts'
import { ITEM_TYPES, parseItemType, type ItemType } from '../../core/item-type.ts'
import { HttpError } from '../../http/http-error.ts'
import type { Fields } from './field-picker.ts'
import type { RecordState } from './history-record.ts'
import { parseTime } from './wire-time.ts'

/** An item as a client describes it. */
export interface HistoryForm {
  readonly type: ItemType
  /** A hint, not empty. */
  readonly hash: string
  readonly text: string
  /** Empty, or a valid data name. */
  readonly dataName: string
  readonly hasData: boolean
  /** A hint. */
  readonly size: number | undefined
  readonly state: RecordState
}

/** The fields that {@link decodeHistoryForm} knows. */
export const HISTORY_FORM_FIELDS: readonly string[] = [
  'type',
  'hash',
  'text',
  'dataName',
  'hasData',
  'size',
  'createTime',
  'lastModified',
  'lastAccessed',
  'starred',
  'pinned',
  'version',
  'isDeleted',
]

/**
 * Decodes a form. All its values are text: what does not parse counts as not sent, unless it is
 * needed.
 *
 * @throws {HttpError} `BAD_BODY` naming the field that is missing; `BAD_NAME`.
 */
export function decodeHistoryForm(fields: Fields<string>): HistoryForm {
  const field = (name: string): string => fields.get(name.toLowerCase()) ?? ''
  const type = parseItemType(field('type'))
  if (type === undefined) {
    throw new HttpError('BAD_BODY', { detail: `"type" must be one of ${ITEM_TYPES.join(', ')}` })
  }
  const hash = field('hash')
  if (hash === '') throw new HttpError('BAD_BODY', { detail: '"hash" is missing' })
  const dataName = field('dataName')
  if (dataName !== '' && !isDataName(dataName)) {
    throw new HttpError('BAD_NAME', { detail: '"dataName" is not a plain file name' })
  }
  return {
    type,
    hash,
    text: field('text'),
    dataName,
    hasData: parseBoolean(field('hasData')) ?? false,
    size: parseInteger(field('size')),
    state: {
      createTime: parseTime(field('createTime')),
      lastModified: parseTime(field('lastModified')),
      lastAccessed: parseTime(field('lastAccessed')),
      starred: parseBoolean(field('starred')),
      pinned: parseBoolean(field('pinned')),
      version: parseInteger(field('version')),
      isDeleted: parseBoolean(field('isDeleted')),
    },
  }
}

/** `true` and `false` in any letter case. */
export function parseBoolean(text: string): boolean | undefined {
  const word = text.toLowerCase()
  if (word === 'true') return true
  return word === 'false' ? false : undefined
}

function parseInteger(text: string): number | undefined {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined
}
