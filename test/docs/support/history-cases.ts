/**
 * Requests for the history endpoints of docs/openapi.yaml.
 * @module
 */

import { KIB } from '../../../src/core/limits.ts'
import {
  casesOf,
  cutOff,
  withBody,
  withFields,
  withHead,
  type Case,
  type CaseOf,
  type CaseRow,
} from './case.ts'
import { fillDisk, pushAndLose } from './document-cases.ts'
import { downloadCases, pushImage } from './file-cases.ts'

const HASH = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'

const TIME = '2026-01-31T12:34:56.789Z'

const BOUNDARY = 'cut-here'

/** A client of the reference project. */
const REFERENCE_CLIENT = withFields('User-Agent: SyncClipboard/3.1.0')

const WITH_IMAGE: CaseOf = { given: pushImage }

const EVERY_FIELD = {
  dataName: '',
  size: '5',
  hasData: 'false',
  createTime: TIME,
  lastModified: TIME,
  lastAccessed: TIME,
  starred: 'true',
  pinned: 'true',
  version: '3',
  isDeleted: 'false',
}

function limited(maxMetadataBytes: number): CaseOf {
  return { options: { maxMetadataBytes } }
}

const HELLO = { type: 'Text', hash: HASH, text: 'hello' }
const FILE = { type: 'File', hash: HASH, data: 'hello' }
const OLD = { type: 'Text', hash: HASH, text: 'old', createTime: '2001-01-01T00:00:00Z' }
const ELSEWHEN = { before: TIME, after: TIME, modifiedAfter: TIME, searchText: 'another' }

/** Forms that break a rule of their format, or a bound that no setting moves. */
const FORM_ROWS: readonly CaseRow[] = [
  ['MULTIPART_BOUNDARY', 'to a form without a boundary', withBody('a', 'multipart/form-data')],
  [
    'MULTIPART_MALFORMED',
    'to a part without a header',
    asForm(`--${BOUNDARY}\r\nnonsense\r\n\r\n`),
  ],
  [
    'MULTIPART_NESTED',
    'to a form in a form',
    asForm(`${partHead('a', '\r\nContent-Type: multipart/mixed; boundary=x')}a\r\n--${BOUNDARY}--`),
  ],
  ['MULTIPART_TRUNCATED', 'to a form without an end', asForm(`${partHead('a')}b`)],
  [
    'PART_HEADER_TOO_LARGE',
    'to a part with a long header',
    asForm(partHead('a', `\r\nX-A: ${'b'.repeat(16 * KIB)}`)),
  ],
  ['TOO_MANY_PARTS', 'to a form of many parts', asForm(`${partHead('a')}b\r\n`.repeat(65))],
]

export const HISTORY_CASES: readonly Case[] = [
  ...casesOf('addRecord', [
    [200, 'to a text', urlencoded(HELLO)],
    [200, 'to a form with every field', urlencoded({ ...HELLO, ...EVERY_FIELD })],
    [200, 'to a file', multipart(FILE)],
    [200, 'to an old record in the other dialect', urlencoded(OLD), REFERENCE_CLIENT, WITH_IMAGE],
    ['BAD_BODY', 'to a form without a type', urlencoded({ hash: HASH })],
    ['BAD_BODY', 'to a form without a hash', urlencoded({ type: 'Text' })],
    ['BAD_NAME', 'to a path', urlencoded({ type: 'File', hash: HASH, dataName: '../a' })],
    ['INCOMPLETE_BODY', 'to a form that is cut off', cutOff('type=Text')],
    [
      'NOTHING_STAGED',
      'without bytes that are not here',
      urlencoded({ type: 'Image', hash: HASH, dataName: 'a.png' }),
    ],
    [
      'history_data_invalid',
      'to other bytes than were promised',
      multipart(FILE),
      withFields(`X-SyncClipboard-Transfer-Data-Hash: ${'0'.repeat(64)}`),
    ],
    ['BODY_TOO_LARGE', 'to a long form', urlencoded(HELLO), limited(8)],
    ['FILE_TOO_LARGE', 'to a large file', multipart(FILE), { options: { maxFileBytes: 4 } }],
    [
      'NOT_FOUND',
      'when the bytes of a known item are gone',
      urlencoded({ type: 'File', hash: HASH, dataName: 'a' }),
      { given: pushAndLose },
    ],
    ...FORM_ROWS,
    ['PADDING_TOO_LARGE', 'to a form that begins late', asForm('x'.repeat(65 * KIB))],
    ['FIELD_TOO_LARGE', 'to a long field', multipart({ text: '12345' }), limited(4)],
    [
      'FIELDS_TOO_LARGE',
      'to several fields',
      multipart({ text: '123', dataName: '45' }),
      limited(4),
    ],
    ['NO_SPACE', 'when the disk is full', urlencoded(HELLO), { given: fillDisk }],
  ]),

  ...casesOf('queryRecords', [
    [200, 'with nothing while there is no item'],
    [200, 'with the item', json({ page: 1, starred: false }), WITH_IMAGE],
    [200, 'with the item', urlencoded({ types: 'Image,Text' }), WITH_IMAGE],
    [200, 'with the item', multipart({ page: '1' }), WITH_IMAGE],
    [200, 'with nothing that is filtered out', urlencoded(ELSEWHEN), WITH_IMAGE],
    [200, 'with the item in the other dialect', json({ page: 1 }), REFERENCE_CLIENT, WITH_IMAGE],
    ['BAD_BODY', 'to what is no JSON', withBody('{', 'application/json')],
    ...FORM_ROWS,
    [200, 'with nothing on page 2', json({ page: 2 }), WITH_IMAGE],
    ['INCOMPLETE_BODY', 'to a body that is cut off', cutOff('{')],
    ['BODY_TOO_LARGE', 'to a long body', json({ page: 1 }), limited(4)],
  ]),

  ...withHead([
    ...casesOf('getStatistics', [
      [200, 'with zeros while there is no item'],
      [200, 'with the item', WITH_IMAGE],
    ]),
    ...casesOf('getRecord', [
      [200, 'with the item', WITH_IMAGE],
      ['NOT_FOUND', 'while there is no item'],
      ['NOT_FOUND', 'to another hash in the other dialect', REFERENCE_CLIENT, WITH_IMAGE],
      ['BAD_PATH', 'with broken percent-encoding', { params: { profileId: '%zz' } }],
      ['BAD_PATH', 'to what is no profile id', { params: { profileId: 'Image' } }],
    ]),
    ...downloadCases('getRecordData'),
    ...casesOf('getRecordData', [
      ['NOT_FOUND', 'to another hash in the other dialect', REFERENCE_CLIENT, WITH_IMAGE],
      ['BAD_PATH', 'to what is no profile id', { params: { profileId: 'Movie-00' } }],
    ]),
  ]),

  ...casesOf('patchRecord', [
    [200, 'and changes nothing', WITH_IMAGE, { request: { body: '{"starred":true}' } }],
    ['NOT_FOUND', 'while there is no item'],
    ['NOT_FOUND', 'to another hash in the other dialect', REFERENCE_CLIENT, WITH_IMAGE],
    ['INCOMPLETE_BODY', 'to a body that is cut off', WITH_IMAGE, cutOff('{')],
    ['BAD_PATH', 'to a profile id of another type', { params: { type: 'File', hash: 'Image-00' } }],
    ['BAD_PATH', 'to a type that there is not', { params: { type: 'Movie' } }],
    ['BODY_TOO_LARGE', 'to a long body', limited(1), { request: { body: '{}' } }],
  ]),

  ...casesOf('clearHistory', [[200, 'and clears nothing', WITH_IMAGE]]),
]

function asForm(body: string): CaseOf {
  return withBody(body, `multipart/form-data; boundary=${BOUNDARY}`)
}

function partHead(name: string, more = ''): string {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`
}

function json(body: object): CaseOf {
  return withBody(JSON.stringify(body), 'application/json')
}

function urlencoded(fields: Readonly<Record<string, string>>): CaseOf {
  return withBody(new URLSearchParams(fields).toString(), 'application/x-www-form-urlencoded')
}

/** A field called `data` becomes a file. */
function multipart(fields: Readonly<Record<string, string>>): CaseOf {
  const parts = Object.entries(fields).map(
    ([name, value]) => `${partHead(name, name === 'data' ? '; filename="a.bin"' : '')}${value}\r\n`,
  )
  return asForm(`${parts.join('')}--${BOUNDARY}--\r\n`)
}
