/**
 * The service document's tables of what happens: groups of endpoints, states, events.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { readObject } from '../../support/phone.ts'
import { parseFrames } from './answer-check.ts'
import { assertText, EMPTY_DOCUMENT, PNG, put } from './conversation.ts'
import { HISTORY_ROWS, form, post, sha256 } from './history-rows.ts'
import { readStream, type OpenStream } from './read-stream.ts'
import type { RowCheck, TableChecks } from './row-check.ts'
import { openStation, type Station } from './station.ts'

const STREAM = '/api/sse/clipboard'

/** What a row about one thing says, that a row about several things says too. */
function all(...names: readonly (keyof typeof HISTORY_ROWS)[]): RowCheck {
  return async (t, cells) => {
    for (const name of names) await HISTORY_ROWS[name]?.(t, cells)
  }
}

const BOUNDARY: TableChecks = {
  section: 'Compatibility boundary',
  columns: ['Endpoint group'],
  rows: {
    'GET /Sync.json, PUT /Sync.json': async (t) => {
      const at = await openStation(t)
      assert.deepEqual(await at.phone.document(), EMPTY_DOCUMENT)
      await at.phone.pushText('hello')
      await assertText(at, 'hello')
    },
    'GET /file/{dataName}, PUT /file/{dataName}, HEAD /file/{dataName}': async (t) => {
      const at = await openStation(t)
      for (const type of ['Image', 'File'] as const) {
        await at.phone.pushFile(type, 'a', PNG)
        assert.deepEqual(await at.phone.download(), PNG)
        const head = await at.phone.fetch('/file/a', { method: 'HEAD' })
        assert.equal(head.headers.get('content-length'), String(PNG.length))
      }
    },
    'POST /api/history': async (t) => {
      const at = await openStation(t)
      await post(at, new URLSearchParams({ type: 'Text', hash: '00', text: 'hello' }))
      await assertText(at, 'hello')
      for (const [type, bytes] of [
        ['Image', PNG],
        ['File', Buffer.from('bytes')],
      ] as const) {
        await post(at, form({ type, hash: sha256(bytes) }, bytes, 'a'))
        assert.equal((await at.phone.document())['type'], type)
        assert.deepEqual(await at.phone.download(), Buffer.from(bytes))
      }
    },
    'GET /api/history/{profileId}, GET /api/history/{profileId}/data': all(
      'GET | /api/history/{profileId}',
      'GET | /api/history/{profileId}/data',
    ),
    'POST /api/history/query, GET /api/history/statistics': all(
      'POST | /api/history/query',
      'GET | /api/history/statistics',
    ),
    'PATCH /api/history/{type}/{hash}, DELETE /api/history/clear, DELETE /file': async (t) => {
      const at = await openStation(t)
      await at.phone.pushFile('Image', 'a.png', PNG)
      const record = `/api/history/Image-${sha256(PNG)}`
      const before = await readObject(await at.phone.fetch(record))
      const marks = { method: 'PATCH', body: '{"starred":true,"pinned":true,"isDeleted":true}' }
      assert.equal((await at.phone.fetch(`/api/history/Image/${sha256(PNG)}`, marks)).status, 200)
      assert.equal((await at.phone.fetch('/api/history/clear', { method: 'DELETE' })).status, 200)
      assert.equal((await at.phone.fetch('/file', { method: 'DELETE' })).status, 200)
      assert.deepEqual(await readObject(await at.phone.fetch(record)), before)
      assert.deepEqual(await at.phone.download(), PNG)
    },
    'GET /api/time, GET /api/version, GET /version, GET /': async (t) => {
      const { phone } = await openStation(t)
      for (const path of ['/api/time', '/api/version', '/version', '/']) {
        assert.equal((await phone.fetch(path)).status, 200, path)
      }
    },
    'GET /api/sse/clipboard': async (t) => {
      const stream = await openEvents(await openStation(t))
      stream.close()
    },
    'GET /healthz': async (t) => {
      const { ask } = await openStation(t)
      const answer = await ask({ method: 'GET', target: '/healthz', isAnonymous: true })
      assert.equal(answer.status, 204)
    },
  },
}

const STATES: TableChecks = {
  section: 'States and transitions',
  columns: ['Subject', 'State', 'Trigger', 'Next state'],
  rows: {
    'Device credential | active | password rotation on the desktop | active (new password)': async (
      t,
    ) => {
      const at = await openStation(t)
      const stream = await openEvents(at)
      const { password } = await at.devices.rotate(at.device.id)
      assert.equal((await at.phone.fetch('/')).status, 401, 'the old password')
      const pair = Buffer.from(`${at.device.username}:${password}`).toString('base64')
      const renewed = await fetch(at.url, { headers: { authorization: `Basic ${pair}` } })
      assert.equal(renewed.status, 200)
      await stream.toEnd()
    },
    'Device credential | active | revocation of the device on the desktop | revoked': async (t) => {
      const at = await openStation(t)
      const stream = await openEvents(at)
      await at.devices.revoke(at.device.id)
      assert.equal((await at.phone.fetch('/')).status, 401)
      await stream.toEnd()
    },
    'Staged upload | none | PUT /file/{dataName} | staged under dataName': async (t) => {
      const at = await openStation(t, { maxFileBytes: 5 })
      assert.equal((await at.phone.fetch('/file/a', put('longer'))).status, 413)
      assert.equal(at.memory.count, 0)
      await at.phone.fetch('/file/a', put('bytes'))
      assert.equal(at.memory.count, 1)
      assert.deepEqual(await at.phone.document(), EMPTY_DOCUMENT, 'it waits')
    },
    'Staged upload | staged | PUT /Sync.json with matching dataName | applied': async (t) => {
      const at = await openStation(t)
      await at.phone.fetch('/file/a', put('bytes'))
      const other = await at.phone.fetch('/Sync.json', put('{"type":"File","dataName":"b"}'))
      assert.equal(other.status, 404)
      const matching = await at.phone.fetch('/Sync.json', put('{"type":"File","dataName":"a"}'))
      assert.equal(matching.status, 200)
      assert.equal((await at.phone.download()).toString(), 'bytes')
      assert.equal(at.memory.count, 0)
    },
    'Event stream | open | a third stream opened for the same device | oldest stream closed':
      thirdStream,
  },
}

/** Also a limit. */
export async function thirdStream(...[t]: Parameters<RowCheck>): Promise<void> {
  const at = await openStation(t)
  const [oldest, second] = [await openEvents(at), await openEvents(at)]
  const third = await openEvents(at)
  await oldest.toEnd()
  await at.phone.pushText('hello')
  for (const stream of [second, third]) {
    await stream.untilEvent('update')
    stream.close()
  }
}

const EVENTS: TableChecks = {
  section: 'Events',
  columns: ['Event', 'Client action'],
  rows: {
    'hello | Pull once unconditionally.': async (t) => {
      const at = await openStation(t)
      const stream = await openEvents(at)
      assert.deepEqual(eventsOf(stream), [['hello', { server_time_ms: at.clock.now() }]])
      stream.close()
    },
    'update | Pull.': async (t) => {
      const at = await openStation(t)
      const stream = await openEvents(at)
      await at.phone.pushText('hello')
      await stream.untilEvent('update')
      const { contentId } = await at.phone.document()
      assert.deepEqual(eventsOf(stream)[1], [
        'update',
        { content_id: contentId, server_time_ms: at.clock.now() },
      ])
      stream.close()
    },
    'resync | Pull once.': async (t) => {
      const at = await openStation(t)
      const stream = await openEvents(at)
      // In one tick: the second waits for the first to be written, and the third takes its place.
      for (const digit of ['0', '1', '2']) {
        at.changes.publish({ contentId: `blake3v1:${digit.repeat(64)}`, activatedAt: 1 })
      }
      await stream.untilEvent('resync')
      assert.deepEqual(eventsOf(stream).at(-1), ['resync', { server_time_ms: at.clock.now() }])
      stream.close()
    },
  },
}

export const SERVICE_BEHAVIOUR_CHECKS: readonly TableChecks[] = [BOUNDARY, STATES, EVENTS]

/** A stream that has said hello. */
export async function openEvents(at: Station): Promise<OpenStream> {
  const stream = await readStream(at, STREAM)
  await stream.untilEvent('hello')
  return stream
}

function eventsOf({ answer }: OpenStream): readonly (readonly [string, unknown])[] {
  return parseFrames(answer.body).map(({ event, data }) => [event, JSON.parse(data)])
}
