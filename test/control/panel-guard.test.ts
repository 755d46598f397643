import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createControlRoutes } from '../../src/control/control-routes.ts'
import { PanelEvents } from '../../src/control/panel-events.ts'
import { createPanelFileRoutes } from '../../src/control/control-routes.ts'
import { PanelToken } from '../../src/control/control-token.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { createFakeAdmin } from '../support/fake-admin.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakePanel } from '../support/fake-panel.ts'
import { openControl, OWNER, TOKEN, type Headers } from './support/open-control.ts'
import { PRIVATE } from './support/private-routes.ts'

const PUBLIC = ['/health', ...createPanelFileRoutes().map(({ pattern }) => pattern)].map(
  (path) => ['GET', path, ''] as const,
)

const OTHER_ORIGINS = ['null', 'http://evil.example', 'http://127.0.0.1:1', 'chrome-extension://x']

/** A listener with an open page, whose registry and pause tell whether anything was done. */
async function setUp(t: TestContext) {
  const opened = await openControl(t)
  const page = await opened.page()
  const assertUntouched = async (what: string): Promise<void> => {
    const { admin, panel } = opened
    assert.deepEqual(admin.registry.list(), [], what)
    assert.equal(panel.paused, undefined, what)
    assert.deepEqual(await opened.page(), page, what)
  }
  return { ...opened, page, assertUntouched }
}

describe('every route of the control listener', () => {
  it('that is private is among those that are tried here', async () => {
    const admin = await createFakeAdmin()
    const panel = new FakePanel()
    const clock = new FakeClock()
    const logger = new CaptureLogger()
    const events = new PanelEvents({ admin, panel, clock, logger })
    const panelToken = new PanelToken()
    const routes = createControlRoutes(
      { admin, panel, token: TOKEN, clock, logger, signOut: async () => {} },
      panelToken,
      events,
    )
    const lines = routes.map(
      ({ method, pattern }) => `${method} ${pattern.replace(/\{\w+\}/, 'nobody')}`,
    )
    const tried = PRIVATE.map(([method, path]) => `${method} ${path}`)
    assert.deepEqual(lines.toSorted(), tried.filter((line) => line !== 'GET /none').toSorted())
  })

  for (const [what, field, valuesAt] of [
    [
      'another host, as a rebound name would send it',
      'Host',
      (port: number) => ['evil.example', `evil.example:${port}`, '127.0.0.1', `127.0.0.2:${port}`],
    ],
    [
      'pages of another origin',
      'Origin',
      (port: number) => [...OTHER_ORIGINS, `https://127.0.0.1:${port}`],
    ],
  ] as const) {
    it(`refuses ${what}`, async (t) => {
      const { ask, page, port, assertUntouched } = await setUp(t)
      for (const [method, path, body] of [...PRIVATE, ...PUBLIC]) {
        for (const value of valuesAt(port)) {
          const headers = { ...page, [field]: value, 'Content-Type': 'application/json' }
          const { status } = await ask(path, { method, headers, body })
          assert.equal(status, 403, `${method} ${path} ${value}`)
        }
      }
      await assertUntouched(what)
    })
  }

  it('that is private is 401 without a token, whatever else a browser sends', async (t) => {
    const { ask, page, assertUntouched } = await setUp(t)
    const strangers: readonly Headers[] = [
      {},
      { 'Sec-Fetch-Site': 'same-origin' },
      { Cookie: String(page['Authorization']) },
      { Authorization: 'Bearer x' },
      { Authorization: 'Bearer' },
      { Authorization: TOKEN },
      { Authorization: `Bearer ${TOKEN}x` },
      { Authorization: `Bearer ${TOKEN.slice(0, -1)}` },
      { Authorization: `Basic ${Buffer.from(`x:${TOKEN}`).toString('base64')}` },
      { Authorization: [String(page['Authorization']), 'Bearer x'] },
    ]
    for (const [method, path, body] of PRIVATE) {
      for (const headers of strangers) {
        const answer = await ask(path, { method, headers, body })
        assert.equal(answer.status, 401, `${method} ${path} ${JSON.stringify(headers)}`)
        assert.match(String(answer.headers['content-type']), /^application\/problem\+json/)
        assert.match(String(answer.headers['www-authenticate']), /^Bearer/)
        assert.ok(!answer.body.includes(TOKEN))
      }
    }
    await assertUntouched('strangers')
  })

  it('that is private lets the page of the panel in', async (t) => {
    const { ask, page, url } = await setUp(t)
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
        const { status } = await ask(path, { method, headers: { ...page, ...more } })
        assert.equal(status, expected, `${method} ${path} ${JSON.stringify(more)}`)
      }
    }
  })

  it('keeps what it answers from other pages and from caches', async (t) => {
    const { ask } = await setUp(t)
    for (const path of ['/status', '/devices', '/state']) {
      const { headers } = await ask(path, { headers: OWNER })
      const expected = {
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      }
      assert.deepEqual({ ...headers, ...expected }, { ...headers }, path)
      assert.equal(headers['access-control-allow-origin'], undefined, path)
    }
  })
})
