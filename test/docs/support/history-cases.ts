/**
 * Requests for the history endpoints of docs/openapi.yaml.
 * @module
 */

import { KIB } from '../../../src/core/limits.ts'
import { failure, success, withHead, type Case, type CaseOf } from './case.ts'
import { fillDisk, pushAndLose } from './document-cases.ts'
import { downloadCases, pushImage } from './file-cases.ts'

const HASH = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'

const TIME = '2026-01-31T12:34:56.789Z'

const BOUNDARY = 'cut-here'

export const HISTORY_CASES: readonly Case[] = [
  success('addRecord', 200, 'to a text', urlencoded({ type: 'Text', hash: HASH, text: 'hello' })),
  success(
    'addRecord',
    200,
    'to a form with every field',
    urlencoded({
      type: 'Text',
      hash: HASH,
      text: 'hello',
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
    }),
  ),
  success('addRecord', 200, 'to a file', multipart({ type: 'File', hash: HASH, data: 'hello' })),
  success('addRecord', 200, 'to an old record in the other dialect', {
    ...asReferenceClient(
      urlencoded({ type: 'Text', hash: HASH, text: 'old', createTime: '2001-01-01T00:00:00Z' }),
    ),
    given: pushImage,
  }),
  failure('addRecord', 'BAD_BODY', 'to a form without a type', urlencoded({ hash: HASH })),
  failure('addRecord', 'BAD_BODY', 'to a form without a hash', urlencoded({ type: 'Text' })),
  failure(
    'addRecord',
    'BAD_NAME',
    'to a path',
    urlencoded({ type: 'File', hash: HASH, dataName: '../a' }),
  ),
  failure('addRecord', 'INCOMPLETE_BODY', 'to a form that is cut off', {
    request: { body: 'type=Text', cut: 'body' },
  }),
  failure('addRecord', 'NOTHING_STAGED', 'without bytes that are not here', {
    ...urlencoded({ type: 'Image', hash: HASH, dataName: 'a.png' }),
  }),
  failure('addRecord', 'BODY_TOO_LARGE', 'to a long form', {
    ...urlencoded({ type: 'Text', hash: HASH }),
    options: { maxMetadataBytes: 8 },
  }),
  failure('addRecord', 'FILE_TOO_LARGE', 'to a large file', {
    ...multipart({ type: 'File', hash: HASH, data: 'hello' }),
    options: { maxFileBytes: 4 },
  }),
  failure('addRecord', 'NOT_FOUND', 'when the bytes of a known item are gone', {
    ...urlencoded({ type: 'File', hash: HASH, dataName: 'a' }),
    given: pushAndLose,
  }),
  ...formCases('addRecord'),
  failure('addRecord', 'FIELD_TOO_LARGE', 'to a long field', {
    ...multipart({ text: '12345' }),
    options: { maxMetadataBytes: 4 },
  }),
  failure('addRecord', 'FIELDS_TOO_LARGE', 'to several fields', {
    ...multipart({ text: '123', dataName: '45' }),
    options: { maxMetadataBytes: 4 },
  }),
  failure('addRecord', 'NO_SPACE', 'when the disk is full', {
    ...urlencoded({ type: 'Text', hash: HASH, text: 'hello' }),
    given: fillDisk,
  }),

  success('queryRecords', 200, 'with nothing while there is no item'),
  ...[
    json({ page: 1, starred: false }),
    urlencoded({ types: 'Image,Text' }),
    multipart({ page: '1' }),
  ].map((more) => success('queryRecords', 200, 'with the item', { ...more, given: pushImage })),
  success('queryRecords', 200, 'with nothing that is filtered out', {
    ...urlencoded({ before: TIME, after: TIME, modifiedAfter: TIME, searchText: 'another' }),
    given: pushImage,
  }),
  success('queryRecords', 200, 'with the item in the other dialect', {
    ...asReferenceClient(json({ page: 1 })),
    given: pushImage,
  }),
  failure('queryRecords', 'BAD_BODY', 'to what is no JSON', {
    request: { body: '{', fields: ['Content-Type: application/json'] },
  }),
  ...formCases('queryRecords'),
  success('queryRecords', 200, 'with nothing on page 2', {
    ...json({ page: 2 }),
    given: pushImage,
  }),
  failure('queryRecords', 'INCOMPLETE_BODY', 'to a body that is cut off', {
    request: { body: '{', cut: 'body' },
  }),
  failure('queryRecords', 'BODY_TOO_LARGE', 'to a long body', {
    ...json({ page: 1 }),
    options: { maxMetadataBytes: 4 },
  }),

  ...withHead([
    success('getStatistics', 200, 'with zeros while there is no item'),
    success('getStatistics', 200, 'with the item', { given: pushImage }),
    success('getRecord', 200, 'with the item', { given: pushImage }),
    failure('getRecord', 'NOT_FOUND', 'while there is no item'),
    failure('getRecord', 'NOT_FOUND', 'to another hash in the other dialect', {
      ...asReferenceClient({}),
      given: pushImage,
    }),
    failure('getRecord', 'BAD_PATH', 'with broken percent-encoding', {
      params: { profileId: '%zz' },
    }),
    failure('getRecord', 'BAD_PATH', 'to what is no profile id', {
      params: { profileId: 'Image' },
    }),
    ...downloadCases('getRecordData', {}),
    failure('getRecordData', 'NOT_FOUND', 'to another hash in the other dialect', {
      ...asReferenceClient({}),
      given: pushImage,
    }),
    failure('getRecordData', 'BAD_PATH', 'to what is no profile id', {
      params: { profileId: 'Movie-00' },
    }),
  ]),

  success('patchRecord', 200, 'and changes nothing', {
    given: pushImage,
    request: { body: '{"starred":true}' },
  }),
  failure('patchRecord', 'NOT_FOUND', 'while there is no item'),
  failure('patchRecord', 'NOT_FOUND', 'to another hash in the other dialect', {
    ...asReferenceClient({}),
    given: pushImage,
  }),
  failure('patchRecord', 'INCOMPLETE_BODY', 'to a body that is cut off', {
    given: pushImage,
    request: { body: '{', cut: 'body' },
  }),
  failure('patchRecord', 'BAD_PATH', 'to a profile id of another type', {
    params: { type: 'File', hash: 'Image-00' },
  }),
  failure('patchRecord', 'BAD_PATH', 'to a type that there is not', { params: { type: 'Movie' } }),
  failure('patchRecord', 'BODY_TOO_LARGE', 'to a long body', {
    options: { maxMetadataBytes: 1 },
    request: { body: '{}' },
  }),

  success('clearHistory', 200, 'and clears nothing', { given: pushImage }),
]

/** Forms that break a rule of their format, or a bound that no setting moves. */
function formCases(id: string): readonly Case[] {
  return [
    failure(id, 'MULTIPART_BOUNDARY', 'to a form without a boundary', {
      request: { body: 'a', fields: ['Content-Type: multipart/form-data'] },
    }),
    failure(
      id,
      'MULTIPART_MALFORMED',
      'to a part without a header',
      asForm(`--${BOUNDARY}\r\nnonsense\r\n\r\n`),
    ),
    failure(id, 'MULTIPART_NESTED', 'to a form in a form', {
      ...asForm(
        `${partHead('a', '\r\nContent-Type: multipart/mixed; boundary=x')}a\r\n--${BOUNDARY}--`,
      ),
    }),
    failure(id, 'MULTIPART_TRUNCATED', 'to a form without an end', asForm(`${partHead('a')}b`)),
    failure(id, 'PART_HEADER_TOO_LARGE', 'to a part with a long header', {
      ...asForm(partHead('a', `\r\nX-A: ${'b'.repeat(16 * KIB)}`)),
    }),
    failure(id, 'PADDING_TOO_LARGE', 'to a form that begins late', asForm('x'.repeat(65 * KIB))),
    failure(
      id,
      'TOO_MANY_PARTS',
      'to a form of many parts',
      asForm(`${partHead('a')}b\r\n`.repeat(65)),
    ),
  ]
}

function asForm(body: string): CaseOf {
  return { request: { body, fields: [`Content-Type: multipart/form-data; boundary=${BOUNDARY}`] } }
}

function partHead(name: string, more = ''): string {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`
}

/** The same request, from a client of the reference project. */
function asReferenceClient({ request = {}, ...more }: CaseOf): CaseOf {
  const { fields = [] } = request
  return {
    ...more,
    request: { ...request, fields: [...fields, 'User-Agent: SyncClipboard/3.1.0'] },
  }
}

function json(body: object): CaseOf {
  return { request: { body: JSON.stringify(body), fields: ['Content-Type: application/json'] } }
}

function urlencoded(fields: Readonly<Record<string, string>>): CaseOf {
  const body = new URLSearchParams(fields).toString()
  return { request: { body, fields: ['Content-Type: application/x-www-form-urlencoded'] } }
}

/** A field called `data` becomes a file. */
function multipart(fields: Readonly<Record<string, string>>): CaseOf {
  const parts = Object.entries(fields).map(
    ([name, value]) => `${partHead(name, name === 'data' ? '; filename="a.bin"' : '')}${value}\r\n`,
  )
  return asForm(`${parts.join('')}--${BOUNDARY}--\r\n`)
}
