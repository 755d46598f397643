import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createPanelFileRoutes } from '../../src/control/panel-files.ts'
import { openControl, OWNER, type Headers } from './support/open-control.ts'

const DEVICE = '{"kind":"phone","label":"L","username":"my_phone"}'

/** What needs a session or the token. */
const PRIVATE = [
  ['GET', '/status', ''],
  ['GET', '/devices', ''],
  ['POST', '/devices', DEVICE],
  ['POST', '/devices/nobody/rotate', '{}'],
  ['DELETE', '/devices/nobody', ''],
  ['GET', '/state', ''],
  ['GET', '/events', ''],
  ['GET', '/item/preview', ''],
  ['POST', '/pause', '{}'],
  ['DELETE', '/pause', ''],
  ['POST', '/panel/tickets', ''],
  ['DELETE', '/session', ''],
  ['GET', '/none', ''],
] as const

const PUBLIC = [
  '/health',
  '/enter?ticket=x',
  ...createPanelFileRoutes().map(({ pattern }) => pattern),
].map((path) => ['GET', path, ''] as const)

/** A listener with a session, whose registry and pause tell whether anything was done. */
async function setUp(t: TestContext) {
  const opened = await openControl(t)
  const Cookie = await opened.enter()
  const key = opened.keyFile.text
  const assertUntouched = (what: string): void => {
    const { admin, panel, keyFile } = opened
    assert.deepEqual(admin.registry.list(), [], what)
    assert.equal(panel.paused, undefined, what)
    assert.equal(keyFile.text, key, what)
  }
  return { ...opened, Cookie, assertUntouched }
}

describe('every route of the control listener', () => {
  it('refuses another host, as a rebound name would send it', async (t) => {
    const { ask, Cookie, port, assertUntouched } = await setUp(t)
    for (const [method, path, body] of [...PRIVATE, ...PUBLIC]) {
      for (const Host of ['evil.example', `evil.example:${port}`, '127.0.0.1', '127.0.0.1:1']) {
        const headers = { Cookie, Host, 'Content-Type': 'application/json' }
        const { status } = await ask(path, { method, headers, body })
        assert.equal(status, 403, `${method} ${path} ${Host}`)
      }
    }
    assertUntouched('another host')
  })

  it('refuses pages of another origin', async (t) => {
    const { ask, Cookie, url, assertUntouched } = await setUp(t)
    const origins = ['null', 'http://evil.example', 'http://127.0.0.1:1', url.replace('http', 'https')]
    for (const [method, path, body] of [...PRIVATE, ...PUBLIC]) {
      for (const Origin of origins) {
        const headers = { Cookie, Origin, 'Content-Type': 'application/json' }
        const { status } = await ask(path, { method, headers, body })
        assert.equal(status, 403, `${method} ${path} ${Origin}`)
      }
    }
    assertUntouched('another origin')
  })

  it('that is private refuses pages on another port of this address, which have the cookie', async (t) => {
    const { ask, Cookie, assertUntouched } = await setUp(t)
    for (const [method, path, body] of PRIVATE) {
      for (const site of ['same-site', 'cross-site', 'SAME-ORIGIN', '']) {
        const headers = { Cookie, 'Sec-Fetch-Site': site, 'Content-Type': 'application/json' }
        const { status } = await ask(path, { method, headers, body })
        assert.equal(status, 403, `${method} ${path} ${site}`)
      }
    }
    assertUntouched('another port')
  })

  it('that is private is 401 without a session and without the token', async (t) => {
    const { ask, Cookie, assertUntouched, port } = await setUp(t)
    const strangers: readonly Headers[] = [
      {},
      { 'Sec-Fetch-Site': 'same-origin' },
      { Cookie: `${Cookie}x` },
      { Cookie: `clipgate_panel_${port}=` },
      { Authorization: 'Bearer x', Cookie },
    ]
    for (const [method, path, body] of PRIVATE) {
      for (const headers of strangers) {
        const answer = await ask(path, { method, headers, body })
        assert.equal(answer.status, 401, `${method} ${path} ${JSON.stringify(headers)}`)
        assert.match(String(answer.headers['content-type']), /^application\/problem\+json/)
      }
    }
    assertUntouched('strangers')
  })

  it('that is private lets the page of the panel in', async (t) => {
    const { ask, Cookie, url } = await setUp(t)
    const sites: readonly Headers[] = [
      {},
      { 'Sec-Fetch-Site': 'same-origin', Origin: url },
      { 'Sec-Fetch-Site': 'none' },
    ]
    for (const more of sites) {
      for (const [method, path, expected] of [
        ['GET', '/status', 200],
        ['GET', '/devices', 200],
        ['GET', '/state', 200],
        ['GET', '/none', 404],
        ['DELETE', '/devices/nobody', 404],
        ['POST', '/devices/nobody/rotate', 404],
        ['DELETE', '/pause', 200],
      ] as const) {
        const { status } = await ask(path, { method, headers: { Cookie, ...more } })
        assert.equal(status, expected, `${method} ${path} ${JSON.stringify(more)}`)
      }
    }
  })

  it('that takes a body takes JSON only from a page', async (t) => {
    const { ask, Cookie, assertUntouched } = await setUp(t)
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']
    for (const [method, path, body] of PRIVATE.filter(([verb, , text]) => verb === 'POST' && text)) {
      for (const type of types) {
        const headers = { Cookie, ...(type === '' ? {} : { 'Content-Type': type }) }
        const answer = await ask(path, { method, headers, body })
        assert.equal(answer.status, 400, `${method} ${path} ${type}`)
        assert.match(answer.body, /BAD_BODY/)
      }
    }
    assertUntouched('forms')
    for (const type of ['application/json', 'Application/JSON; charset=utf-8']) {
      const headers = { Cookie, 'Content-Type': type }
      assert.equal((await ask('/pause', { method: 'POST', headers, body: '{}' })).status, 200, type)
    }
  })

  it('keeps what it answers from other pages and from caches', async (t) => {
    const { ask } = await setUp(t)
    for (const path of ['/status', '/devices', '/state']) {
      const { headers } = await ask(path, { headers: OWNER })
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin', path)
      assert.equal(headers['cache-control'], 'no-store', path)
      assert.equal(headers['x-content-type-options'], 'nosniff', path)
      assert.equal(headers['access-control-allow-origin'], undefined, path)
    }
  })
})
