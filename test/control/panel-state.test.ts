import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import decodeQR from 'qr/decode.js'
import { createAdminClient } from '../../src/control/admin-client.ts'
import { DomainError } from '../../src/core/domain-error.ts'
import { MAX_PAUSE_MS } from '../../src/core/limits.ts'
import { parseConnectLink } from '../../src/link/connect-link.ts'
import { bytesItem, recentText, textItem } from './support/items.ts'
import { openControl, OWNER, TOKEN } from './support/open-control.ts'

const JSON_TYPE = { ...OWNER, 'Content-Type': 'application/json' }

describe('GET /state', () => {
  it('is everything that the panel shows, with null for what is absent', async (t) => {
    const { read, admin, panel, clock } = await openControl(t)
    const { device } = await admin.registry.add({ kind: 'phone', label: '<b>Phone</b>' })
    const stored = await bytesItem({ dataName: '<img src=x>.png', bytes: Buffer.from('PNG') })
    const sender = { kind: 'device', deviceId: device.id } as const
    panel.item = { ...stored, item: { ...stored.item, sender } }
    panel.receivedDir = '/home/me/Downloads/clipgate'
    const state = await read('/state')
    assert.deepEqual(state, {
      serverTimeMs: clock.now(),
      status: await read('/status'),
      devices: await read('/devices'),
      item: {
        type: 'Image',
        dataName: '<img src=x>.png',
        mediaType: 'image/png',
        size: 3,
        contentId: stored.item.contentId,
        activatedAtMs: stored.item.activatedAt,
        preview: 'image',
        sender,
      },
      recent: [],
      transfers: [],
      receivedDir: '/home/me/Downloads/clipgate',
      addresses: [{ url: 'http://192.168.1.20:42720', via: 'eth0', kind: 'lan' }],
      happenings: [],
    })
    assert.deepEqual([state.status.paused, state.status.clipboardError], [null, null])
    const { id, label, lastSeenAt } = state.devices[0]
    assert.deepEqual([id, label, lastSeenAt], [device.id, '<b>Phone</b>', null])
  })

  it('says what preview there is, and never holds content', async (t) => {
    const { read, panel } = await openControl(t)
    assert.equal((await read('/state')).item, null)
    panel.item = await textItem('a private message')
    const state = await read('/state')
    assert.doesNotMatch(JSON.stringify(state), /private message/)
    assert.equal(state.item.preview, 'text')
    panel.item = await bytesItem({ type: 'File', bytes: Buffer.from('x') })
    assert.equal((await read('/state')).item.preview, null)
  })

  it('lists the recent items without their content', async (t) => {
    const { read, panel } = await openControl(t)
    panel.recent.list = [recentText('1', 'a private message')]
    const { recent } = await read('/state')
    const sender = { kind: 'clipboard', deviceId: null }
    const facts = { dataName: '', size: 17, activatedAtMs: 5, preview: 'text', sender }
    assert.deepEqual(recent, [{ id: '1', type: 'Text', ...facts }])
  })
})

/** What a camera sees of the rows, on white. */
function photograph(rows: readonly string[]) {
  const [scale, border] = [4, 4]
  const side = (rows.length + 2 * border) * scale
  const moduleAt = (pixel: number): number => Math.floor(pixel / scale) - border
  const data = Uint8Array.from({ length: side * side * 3 }, (_, index) => {
    const [x, y] = [Math.floor(index / 3) % side, Math.floor(index / 3 / side)]
    return rows[moduleAt(y)]?.[moduleAt(x)] === '1' ? 0 : 255
  })
  return { width: side, height: side, data }
}

describe('pairing from the panel', () => {
  it('answers with a QR code of the link, also when a password is new', async (t) => {
    const { ask } = await openControl(t)
    const url = 'http://10.0.0.7:42720'
    const body = JSON.stringify({ kind: 'phone', label: 'L', username: null, password: null, url })
    const paired = await ask('/devices', { method: 'POST', headers: JSON_TYPE, body })
    const pairing = JSON.parse(paired.body)
    const other = JSON.stringify({ url: 'http://10.0.0.8:42720' })
    const path = `/devices/${pairing.id}/rotate`
    const rotated = await ask(path, { method: 'POST', headers: JSON_TYPE, body: other })
    const plain = await ask(path, { method: 'POST', headers: OWNER })
    for (const [{ status, body: text }, expected] of [
      [paired, url],
      [rotated, 'http://10.0.0.8:42720'],
      [plain, 'http://192.168.1.20:42720'],
    ] as const) {
      assert.equal(status, 200, text)
      const { link, qr, password } = JSON.parse(text)
      const square = new RegExp(`^[01]{${qr.length}}$`)
      assert.ok(
        qr.every((row: string) => square.test(row)),
        'square',
      )
      assert.match(qr[0], /^1111111/)
      assert.equal(decodeQR(photograph(qr)), link)
      const { url: base, pwd } = parseConnectLink(link)
      assert.deepEqual([base, pwd], [expected, password])
    }
    assert.notEqual(JSON.parse(rotated.body).password, pairing.password)
  })

  it('changes nothing when the address cannot be in a link', async (t) => {
    const { ask, admin } = await openControl(t)
    const { device } = await admin.registry.add({ kind: 'phone' })
    const body = JSON.stringify({ url: 'javascript:alert(1)' })
    const path = `/devices/${device.id}/rotate`
    const answer = await ask(path, { method: 'POST', headers: JSON_TYPE, body })
    assert.equal(answer.status, 400, answer.body)
    assert.deepEqual(admin.registry.list(), [device])
  })
})

describe('POST and DELETE /pause', () => {
  it('pause for a time or without an end, and resume', async (t) => {
    const { ask, panel, clock } = await openControl(t)
    const post = (body: string) => ask('/pause', { method: 'POST', headers: JSON_TYPE, body })
    const untilMs = clock.now() + 600_000
    assert.deepEqual(JSON.parse((await post('{"durationMs":600000}')).body), { untilMs })
    assert.deepEqual(panel.paused, { untilMs })
    for (const body of ['{"durationMs":null}', '{}', '']) {
      assert.deepEqual(JSON.parse((await post(body)).body), { untilMs: null }, body)
    }
    const resumed = await ask('/pause', { method: 'DELETE', headers: OWNER })
    assert.deepEqual([resumed.status, resumed.body, panel.paused], [200, '{}', undefined])
  })

  it('refuse what is no time', async (t) => {
    const { ask, panel } = await openControl(t)
    const values = ['0', '-1', '1.5', '"10m"', 'true', '[]', '1e300', String(MAX_PAUSE_MS + 1)]
    for (const body of [...values.map((value) => `{"durationMs":${value}}`), '{', '[]', '5']) {
      const answer = await ask('/pause', { method: 'POST', headers: JSON_TYPE, body })
      assert.equal(answer.status, 400, body)
    }
    assert.equal(panel.paused, undefined)
  })

  it('say that there is nothing to pause', async (t) => {
    const { ask, panel, url } = await openControl(t)
    panel.failure = new DomainError('NO_CLIPBOARD', 'Cannot pause: there is no clipboard')
    const answer = await ask('/pause', { method: 'DELETE', headers: OWNER })
    assert.deepEqual([answer.status, JSON.parse(answer.body).code], [409, 'NO_CLIPBOARD'])
    const client = createAdminClient({ url, token: TOKEN })
    await assert.rejects(client.pause(undefined), { name: 'DomainError', code: 'NO_CLIPBOARD' })
  })
})

describe('POST /stop', () => {
  it('makes the daemon end, and is for its owner alone', async (t) => {
    const { ask, panel } = await openControl(t)
    assert.equal((await ask('/stop', { method: 'POST' })).status, 401)
    assert.equal((await ask('/stop', { headers: OWNER })).status, 405)
    assert.equal(panel.isStopping, false)
    const answer = await ask('/stop', { method: 'POST', headers: OWNER })
    assert.deepEqual([answer.status, answer.body, panel.isStopping], [200, '{}', true])
  })
})

describe('createAdminClient()', () => {
  it('pauses, resumes, and gets the address that opens the panel', async (t) => {
    const { url, panel, clock, ask, address } = await openControl(t)
    const client = createAdminClient({ url, token: TOKEN })
    assert.deepEqual(await client.pause(1000), { untilMs: clock.now() + 1000 })
    assert.deepEqual(await client.pause(undefined), { untilMs: undefined })
    await client.resume()
    assert.equal(panel.paused, undefined)
    assert.equal(new URL(await client.panelUrl()).hash, (await address()).hash)
    assert.equal((await ask('/')).status, 200)
  })
})
