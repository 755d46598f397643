/**
 * The endpoint tables of the service document, row by row.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { readObject } from '../../support/phone.ts'
import { BINARY_ROWS } from './binary-rows.ts'
import { assertProtected, EMPTY_DOCUMENT, put } from './conversation.ts'
import { HISTORY_ROWS } from './history-rows.ts'
import { readStream } from './read-stream.ts'
import type { RowCheck, TableChecks } from './row-check.ts'
import { openStation } from './station.ts'

const COLUMNS = ['Method', 'Path']

const CONTENT_ID = /^blake3v1:[0-9a-f]{64}$/

const ISO_8601_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

const VERSION: RowCheck = async (t) => {
  const at = await openStation(t)
  for (const path of ['/api/version', '/version']) {
    await assertProtected(at, 'GET', path)
    const response = await at.phone.fetch(path)
    assert.equal(response.headers.get('content-type'), 'application/json')
    assert.equal(await response.json(), 'clipgate 1.2.3')
  }
}

export const SERVICE_ENDPOINT_CHECKS: readonly TableChecks[] = [
  {
    section: 'Probes',
    columns: [...COLUMNS, 'Auth'],
    rows: {
      'GET | /healthz | none (public)': async (t) => {
        const at = await openStation(t)
        const seen = at.devices.list()
        for (const fields of [
          [],
          ['Authorization: nonsense'],
          [`Authorization: ${at.authorization}`],
        ]) {
          const answer = await at.ask({
            method: 'GET',
            target: '/healthz',
            isAnonymous: true,
            fields,
          })
          assert.equal(answer.status, 204)
          assert.equal(answer.body, '')
          assert.equal(answer.headers['cache-control'], 'no-store')
          // Nothing else: no version, no name, no item.
          const { date, connection, 'keep-alive': keepAlive, ...own } = answer.headers
          assert.deepEqual(own, {
            'cache-control': 'no-store',
            'cross-origin-resource-policy': 'same-origin',
            'x-content-type-options': 'nosniff',
          })
        }
        assert.deepEqual(at.devices.list(), seen, 'nobody was seen')
        assert.equal(at.verifier.calls, 0)
        assert.deepEqual(at.logger.lines, [])
      },
      'GET | / | Basic': async (t) => {
        const at = await openStation(t)
        await assertProtected(at, 'GET', '/')
        await at.phone.pushText('secret')
        const response = await at.phone.fetch('/')
        assert.equal(response.status, 200)
        assert.match(response.headers.get('content-type') ?? '', /^text\/plain/)
        assert.equal(await response.text(), 'Server is running.')
        assert.equal((await at.phone.document())['text'], 'secret')
      },
      'GET | /api/time | Basic': async (t) => {
        const at = await openStation(t)
        await assertProtected(at, 'GET', '/api/time')
        const response = await at.phone.fetch('/api/time')
        assert.equal(response.headers.get('content-type'), 'application/json')
        const time: unknown = await response.json()
        assert.match(String(time), ISO_8601_UTC)
        assert.equal(Date.parse(String(time)), at.clock.now())
      },
      'GET | /api/version | Basic': VERSION,
      'GET | /version | Basic': VERSION,
    },
  },

  {
    section: 'Clipboard document',
    columns: COLUMNS,
    rows: {
      'GET | /Sync.json': async (t) => {
        const at = await openStation(t)
        await assertProtected(at, 'GET', '/Sync.json')
        assert.deepEqual(await at.phone.document(), EMPTY_DOCUMENT)
        await at.phone.pushText('older')
        await at.phone.pushFile('File', 'a.bin', Buffer.from('bytes'))
        const response = await at.phone.fetch('/Sync.json')
        assert.equal(response.headers.get('content-type'), 'application/json')
        const { type, hasData, dataName } = await readObject(response)
        assert.deepEqual(
          { type, hasData, dataName },
          { type: 'File', hasData: true, dataName: 'a.bin' },
        )
        assert.equal(await (await at.phone.fetch('/file/a.bin')).text(), 'bytes')
      },
      'PUT | /Sync.json': async (t) => {
        const at = await openStation(t)
        await assertProtected(at, 'PUT', '/Sync.json')
        for (const [type, text, hasData] of [
          ['type', 'text', 'hasData'],
          ['Type', 'Text', 'HasData'],
          ['Type', 'text', 'hasData'],
        ]) {
          const pushed = `${type} ${text}`
          const body = `{"${type}":"Text","${text}":"${pushed}","${hasData}":false}`
          const response = await at.phone.fetch('/Sync.json', put(body))
          assert.equal(response.headers.get('content-type'), 'application/json')
          assert.match(String((await readObject(response))['contentId']), CONTENT_ID)
          assert.equal((await at.phone.document())['text'], pushed)
        }
        const fields = [`Content-Length: ${16 * 2 ** 20 + 1}`]
        assert.equal((await at.ask({ method: 'PUT', target: '/Sync.json', fields })).status, 413)
      },
    },
  },

  { section: 'Binary payloads', columns: COLUMNS, rows: BINARY_ROWS },
  { section: 'History compatibility', columns: COLUMNS, rows: HISTORY_ROWS },

  {
    section: 'Event stream',
    columns: COLUMNS,
    rows: {
      'GET | /api/sse/clipboard': async (t) => {
        const at = await openStation(t)
        await assertProtected(at, 'GET', '/api/sse/clipboard')
        const stream = await readStream(at, '/api/sse/clipboard')
        assert.equal(stream.answer.status, 200)
        assert.equal(stream.answer.headers['content-type'], 'text/event-stream')
        await stream.untilEvent('hello')
        await at.phone.pushText('secret')
        await stream.untilEvent('update')
        assert.ok(!stream.answer.body.includes('secret'), 'signals only')
        stream.close()
      },
    },
  },
]
