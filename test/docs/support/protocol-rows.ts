/**
 * docs/protocol.md about probes, the document and events, row by row.
 * @module
 */

import assert from 'node:assert/strict'
import { REPEAT_PUSH_MS } from '../../../src/core/limits.ts'
import { md5, sha256 } from '../../support/hashes.ts'
import { readObject } from '../../support/phone.ts'
import { parseFrames } from './answer-check.ts'
import { assertText, EMPTY_DOCUMENT, openEvents, PNG, put } from './conversation.ts'
import type { RowCheck } from './row-check.ts'
import { openStation, type Answer, type Station } from './station.ts'

/** Shows what these requests are answered. */
function asking(
  requests: readonly string[],
  expect: (answer: Answer, at: Station) => void,
): RowCheck {
  return async (t) => {
    const at = await openStation(t)
    for (const request of requests) {
      const [method = '', target = ''] = request.split(' ')
      expect(await at.ask({ method, target }), at)
    }
  }
}

function withStatus(status: number, body?: string): (answer: Answer) => void {
  return (answer) => {
    assert.equal(answer.status, status)
    if (body !== undefined) assert.equal(answer.body, body)
  }
}

const VERSIONS = ['GET /api/version', 'GET /version']

export const PROBE_ROWS: Readonly<Record<string, RowCheck>> = {
  'GET /healthz | 204, no body': asking(['GET /healthz'], withStatus(204, '')),
  'GET / | text/plain: Server is running.': asking(['GET /'], (answer) => {
    withStatus(200, 'Server is running.')(answer)
    assert.match(answer.headers['content-type'] ?? '', /^text\/plain\b/)
  }),
  'GET /api/time | application/json, a string: "2026-01-31T12:34:56.789Z" (UTC)': asking(
    ['GET /api/time'],
    (answer) => {
      // The moment at which the clock of the tests begins.
      withStatus(200, '"2026-01-31T12:34:56.789Z"')(answer)
      assert.equal(answer.headers['content-type'], 'application/json')
    },
  ),
  'GET /api/version, GET /version | application/json, a string: "clipgate <semver>"; in the dialect syncclipboard, text/plain: 3.2.0, the version of the reference protocol that is spoken':
    asking(VERSIONS, (answer) => {
      withStatus(200, '"clipgate 1.2.3"')(answer)
      assert.equal(answer.headers['content-type'], 'application/json')
    }),
  'OPTIONS / | 204 with Allow': asking(['OPTIONS /', 'OPTIONS *'], (answer) => {
    withStatus(204, '')(answer)
    assert.equal(answer.headers['allow'], 'GET, HEAD, OPTIONS, PROPFIND, MKCOL')
  }),
  'PROPFIND on / or /file | 207, application/xml: a multistatus with the folder and, unless Depth is 0, the folders in it':
    asking(['PROPFIND /', 'PROPFIND /file/'], (answer) => {
      withStatus(207)(answer)
      assert.match(answer.headers['content-type'] ?? '', /^application\/xml\b/)
      assert.match(answer.body, /<multistatus xmlns="DAV:">/)
    }),
  'MKCOL on / or /file | 201, no body': asking(['MKCOL /', 'MKCOL /file'], withStatus(201, '')),
}

const FIELDS: Readonly<Record<string, string>> = {
  type: 'string',
  text: 'string',
  hasData: 'boolean',
  size: 'integer',
  hash: 'string',
  dataName: 'string',
  contentId: 'string',
}

export const DOCUMENT_FIELD_ROWS: Readonly<Record<string, RowCheck>> = Object.fromEntries(
  Object.entries(FIELDS).map(([name, type]): [string, RowCheck] => [
    `${name} | ${type}`,
    async (t) => {
      const { phone } = await openStation(t)
      await phone.pushFile('Image', 'a.png', PNG)
      const document = await phone.document()
      const value = document[name]
      assert.ok(
        type === 'integer' ? Number.isInteger(value) : typeof value === type,
        `${name} is a ${type}`,
      )
      assert.deepEqual(Object.keys(document), Object.keys(FIELDS))
    },
  ]),
)

async function push({ phone }: Station, document: object): Promise<Response> {
  return phone.fetch('/Sync.json', put(JSON.stringify(document)))
}

const KNOWN =
  'no such upload, but the current or the binary item has that hash; or that dataName, ' +
  'and the document has no hash (32 or more hex digits), or the MD5 of the bytes'

export const PUSH_ROWS: Readonly<Record<string, RowCheck>> = {
  'Text, hasData false': async (t) => {
    const at = await openStation(t)
    await push(at, { type: 'Text', text: 'hello', hasData: false })
    await assertText(at, 'hello')
  },
  'Text, hasData false, empty': async (t) => {
    const at = await openStation(t)
    const nothing = await readObject(await push(at, { type: 'Text', text: '' }))
    assert.match(String(nothing['contentId']), /^blake3v1:d074b8c0/, 'that of the empty text')
    assert.deepEqual(await at.phone.document(), EMPTY_DOCUMENT)
    await at.phone.pushText('hello')
    const { contentId } = await readObject(await push(at, { type: 'Text', text: '' }))
    assert.equal(contentId, (await at.phone.document())['contentId'])
    await assertText(at, 'hello')
  },
  'Text, hasData true': async (t) => {
    const at = await openStation(t, { maxMetadataBytes: 99 })
    const long = { type: 'Text', text: 'prev…', hasData: true, dataName: 'a.txt' }
    await at.phone.fetch('/file/a.txt', put('the whole text'))
    assert.equal((await push(at, long)).status, 200)
    await assertText(at, 'the whole text')
    await at.phone.fetch('/file/a.txt', put(Buffer.of(0xff)))
    assert.equal((await push(at, long)).status, 400)
    await at.phone.fetch('/file/a.txt', put('x'.repeat(100)))
    assert.equal((await push(at, long)).status, 413)
    await assertText(at, 'the whole text')
  },
  'Image, File, Group': async (t) => {
    const at = await openStation(t)
    for (const type of ['Image', 'File', 'Group'] as const) {
      await at.phone.pushFile(type, 'a', Buffer.from(type))
      assert.equal((await at.phone.document())['type'], type)
      assert.equal((await at.phone.download()).toString(), type)
    }
    await at.phone.fetch('/file/b', put('bytes'))
    assert.equal((await push(at, { type: 'File', text: 'b' })).status, 200)
    assert.equal((await at.phone.document())['dataName'], 'b')
  },
  'File whose upload is an image by declaration or by its bytes': async (t) => {
    const at = await openStation(t)
    for (const [body, headers] of [
      [PNG, {}],
      [Buffer.from('?'), { 'content-type': 'image/x-own' }],
    ] as const) {
      await at.phone.fetch('/file/a', put(body, headers))
      await push(at, { type: 'File', dataName: 'a' })
      assert.equal((await at.phone.document())['type'], 'Image')
    }
  },
  [KNOWN]: async (t) => {
    const at = await openStation(t)
    await at.phone.pushFile('File', 'a', Buffer.from('bytes'))
    const statusOf = async (known: object) => (await push(at, { type: 'File', ...known })).status
    const hash = sha256('bytes').toUpperCase()
    const same = [{ dataName: 'b', hash }, { dataName: 'a' }, { dataName: 'a', hash: md5('bytes') }]
    for (const known of same) {
      await at.phone.pushText('between')
      assert.equal(await statusOf(known), 200, JSON.stringify(known))
      assert.equal((await at.phone.document())['dataName'], 'a')
    }
    assert.equal(await statusOf({ dataName: 'a', hash: sha256('others') }), 404)
  },
  'no such upload, nothing matches': async (t) => {
    const at = await openStation(t)
    await at.phone.pushText('hello')
    const response = await push(at, { type: 'Image', dataName: 'a.png', hash: '00' })
    assert.equal(response.status, 404)
    assert.equal((await readObject(response))['code'], 'NOTHING_STAGED')
    await assertText(at, 'hello')
  },
  'content that is current already': async (t) => {
    const at = await openStation(t)
    let changes = 0
    t.after(at.changes.subscribe(() => (changes += 1)))
    const ids = new Set<unknown>()
    const pushAgain = async () =>
      ids.add((await readObject(await push(at, { type: 'Text', text: 'a' })))['contentId'])
    await pushAgain()
    at.clock.advance(REPEAT_PUSH_MS - 1)
    await pushAgain()
    assert.equal(changes, 1, 'one push, sent twice')
    at.clock.advance(1)
    await pushAgain()
    assert.equal(changes, 2, 'activated again')
    assert.equal(ids.size, 1)
  },
}

/** Shows that this event is the last one of a stream once something was done. */
function says(
  name: string,
  act: (at: Station) => Promise<void> | void,
  data: (at: Station) => Promise<object> | object = () => ({}),
): RowCheck {
  return async (t) => {
    const at = await openStation(t)
    const stream = await openEvents(at)
    await act(at)
    await stream.untilEvent(name)
    const last = parseFrames(stream.answer.body).at(-1)
    const expected = { ...(await data(at)), server_time_ms: at.clock.now() }
    assert.deepEqual([last?.event, JSON.parse(last?.data ?? '')], [name, expected])
    stream.close()
  }
}

export const EVENT_ROWS: Readonly<Record<string, RowCheck>> = {
  hello: says('hello', () => {}),
  update: says(
    'update',
    ({ phone }) => phone.pushText('hello'),
    async ({ phone }) => ({ content_id: (await phone.document())['contentId'] }),
  ),
  // In one tick: the second waits for the first to be written, and the third takes its place.
  resync: says('resync', ({ changes }) => {
    for (const digit of ['0', '1', '2']) {
      changes.publish({ contentId: `blake3v1:${digit.repeat(64)}`, activatedAt: 1 })
    }
  }),
}
