import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { createAdminClient } from '../../src/control/admin-client.ts'
import { ControlUnreachableError } from '../../src/control/call-control.ts'
import { createControl } from '../../src/control/create-control.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { DomainError } from '../../src/core/domain-error.ts'
import { parseConnectLink } from '../../src/link/connect-link.ts'
import type { Admin, PairRequest } from '../../src/ports/admin.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { createFakeAdmin, STATUS } from '../support/fake-admin.ts'
import { FakePanel } from '../support/fake-panel.ts'

const TOKEN = 'a-token-that-nobody-guesses'

const PHONE: PairRequest = {
  kind: 'phone',
  label: undefined,
  username: undefined,
  password: undefined,
  url: undefined,
}

/** A control listener on a free port, until the test ends. */
async function listen(t: TestContext, admin: Admin, host = '127.0.0.1') {
  const logger = new CaptureLogger()
  const { listener } = createControl({
    admin,
    panel: new FakePanel(),
    token: TOKEN,
    clock: systemClock,
    logger,
  })
  const server = createServer(listener).on('checkContinue', listener)
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, host), 'listening')
  const { port } = server.address() as AddressInfo
  const authority = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  const url = `http://${authority}`
  return { url, port, authority, logger, client: createAdminClient({ url, token: TOKEN }) }
}

interface Request {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string
}

interface Response {
  readonly status: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: string
}

/** Unlike `fetch`, it sends any `Host`, `Origin` and doubled header that it is told to. */
async function ask(
  url: string,
  path: string,
  { method = 'GET', headers = {}, body = '' }: Request = {},
): Promise<Response> {
  const outgoing = httpRequest(new URL(path, url), { method, headers, agent: false }).end(body)
  const [response] = await once(outgoing, 'response')
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return { status: response.statusCode, headers: response.headers, body: text }
}

const OWNER = { Authorization: `Bearer ${TOKEN}` }

describe('the control listener', () => {
  it('says that it lives, without a token and without an identity', async (t) => {
    const { url } = await listen(t, createFakeAdmin())
    const { status, body, headers } = await ask(url, '/health')
    assert.equal(status, 200)
    assert.deepEqual(JSON.parse(body), { status: 'ok' })
    assert.equal(headers['server'], undefined)
  })

  it('answers nothing else without the token', async (t) => {
    const admin = createFakeAdmin()
    const { url } = await listen(t, admin)
    const { device } = await admin.registry.add({ kind: 'phone' })
    const attempts: readonly Readonly<Record<string, string | string[]>>[] = [
      {},
      { Authorization: `Bearer ${TOKEN}x` },
      { Authorization: `Bearer ${TOKEN.slice(0, -1)}` },
      { Authorization: 'Bearer' },
      { Authorization: `Basic ${Buffer.from(`x:${TOKEN}`).toString('base64')}` },
      { Authorization: TOKEN },
      { Authorization: [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`] },
    ]
    for (const [method, path] of [
      ['GET', '/status'],
      ['GET', '/devices'],
      ['POST', '/devices'],
      ['GET', '/none'],
      ['POST', `/devices/${device.id}/rotate`],
      ['DELETE', `/devices/${device.id}`],
    ] as const) {
      for (const headers of attempts) {
        const response = await ask(url, path, { method, headers })
        assert.equal(response.status, 401, `${method} ${path} ${JSON.stringify(headers)}`)
        assert.match(String(response.headers['www-authenticate']), /^Bearer/)
        assert.ok(!response.body.includes(TOKEN))
      }
    }
    assert.deepEqual(admin.registry.list(), [device])
  })

  it('takes the scheme of the token in any case', async (t) => {
    const { url } = await listen(t, createFakeAdmin())
    assert.equal(
      (await ask(url, '/status', { headers: { Authorization: `bEARER  ${TOKEN}` } })).status,
      200,
    )
  })

  it('refuses requests for another host, as a rebound name would send', async (t) => {
    const { url, port, authority } = await listen(t, createFakeAdmin())
    for (const path of ['/health', '/status']) {
      for (const host of [
        'evil.example',
        `evil.example:${port}`,
        '127.0.0.1',
        `127.0.0.2:${port}`,
        `0.0.0.0:${port}`,
      ]) {
        assert.equal(
          (await ask(url, path, { headers: { ...OWNER, Host: host } })).status,
          403,
          host,
        )
      }
      for (const host of [authority, `localhost:${port}`, `LOCALHOST:${port}`]) {
        assert.equal(
          (await ask(url, path, { headers: { ...OWNER, Host: host } })).status,
          200,
          host,
        )
      }
    }
  })

  it('refuses pages of other origins, and lets its own in', async (t) => {
    const { url } = await listen(t, createFakeAdmin())
    for (const origin of [
      'null',
      'http://evil.example',
      'https://127.0.0.1:1',
      url.replace('http', 'https'),
      'chrome-extension://x',
    ]) {
      assert.equal(
        (await ask(url, '/status', { headers: { ...OWNER, Origin: origin } })).status,
        403,
        origin,
      )
    }
    assert.equal((await ask(url, '/status', { headers: { ...OWNER, Origin: url } })).status, 200)
    const preflight = await ask(url, '/devices', {
      method: 'OPTIONS',
      headers: { Origin: 'http://evil.example' },
    })
    assert.ok(preflight.status >= 400)
    assert.equal(preflight.headers['access-control-allow-origin'], undefined)
  })

  it('works on IPv6 loopback', async (t) => {
    const { client } = await listen(t, createFakeAdmin(), '::1')
    assert.equal((await client.status()).running, true)
  })

  it('answers 400 to a body that is no pair request, and says which field is wrong', async (t) => {
    const { url } = await listen(t, createFakeAdmin())
    const post = (body: string) => ask(url, '/devices', { method: 'POST', headers: OWNER, body })
    for (const body of ['', '{', '[]', '{"kind":"fridge"}', '{"kind":"phone","label":5}']) {
      assert.equal((await post(body)).status, 400, body)
    }
    assert.match((await post('{"kind":"phone","label":5}')).body, /\\"label\\" must be a string/)
    assert.equal((await post(`{"kind":"phone","label":"${'x'.repeat(70_000)}"}`)).status, 413)
  })

  it('logs an unexpected failure, and tells nothing of it', async (t) => {
    const broken = { ...createFakeAdmin(), status: () => Promise.reject(new Error('disk on fire')) }
    const { url, logger, client } = await listen(t, broken)
    const { status, body } = await ask(url, '/status', { headers: OWNER })
    assert.equal(status, 500)
    assert.doesNotMatch(body, /fire/)
    assert.match(logger.text, /disk on fire/)
    await assert.rejects(client.status(), { message: /Unexpected failure/ })
  })
})

describe('createAdminClient()', () => {
  it('gives back what the daemon says, absent members included', async (t) => {
    const admin = createFakeAdmin({ warning: 'Nobody can reach this' })
    const { client } = await listen(t, admin)
    assert.deepEqual(await client.status(), STATUS)
    assert.deepEqual(await client.devices(), [])

    const pairing = await client.pair({
      ...PHONE,
      label: 'Ünïcode 📱',
      username: 'my_phone',
      password: 'pässword',
    })
    assert.deepEqual(
      [pairing.label, pairing.username, pairing.password, pairing.warning],
      ['Ünïcode 📱', 'my_phone', 'pässword', 'Nobody can reach this'],
    )
    assert.deepEqual(parseConnectLink(pairing.link), {
      v: 1,
      url: 'http://192.168.1.20:42720',
      user: 'my_phone',
      pwd: 'pässword',
      o: { did: pairing.id, label: 'Ünïcode 📱', proto: 'syncclipboard' },
    })
    const [device] = await client.devices()
    assert.deepEqual([device?.id, device?.streams, device?.active], [pairing.id, 2, true])
    assert.deepEqual(await client.devices(), await admin.devices())
  })

  it('rotates and revokes by id and by user name', async (t) => {
    const admin = createFakeAdmin()
    const { client } = await listen(t, admin)
    const { id, username, password } = await client.pair(PHONE)
    const rotated = await client.rotate(username)
    assert.equal(rotated.id, id)
    assert.notEqual(rotated.password, password)
    assert.deepEqual(await client.revoke(id), { id, unsaved: undefined })
    assert.deepEqual(await client.devices(), [])
  })

  it('fails as the registry does', async (t) => {
    const { client } = await listen(t, createFakeAdmin())
    await client.pair({ ...PHONE, username: 'my_phone' })
    const failures: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => client.rotate('nobody_here'), 'NO_SUCH_DEVICE'],
      [() => client.revoke('did_0'), 'NO_SUCH_DEVICE'],
      [() => client.revoke('..'), 'NO_SUCH_DEVICE'],
      [() => client.rotate('a/b?c'), 'NO_SUCH_DEVICE'],
      [() => client.pair({ ...PHONE, username: 'my_phone' }), 'USERNAME_TAKEN'],
      [() => client.pair({ ...PHONE, username: '1' }), 'USERNAME_INVALID'],
      [() => client.pair({ ...PHONE, password: 'short' }), 'PASSWORD_INVALID'],
      [() => client.pair({ ...PHONE, label: '' }), 'LABEL_INVALID'],
    ]
    for (const [failure, code] of failures) {
      await assert.rejects(
        failure(),
        (error) => error instanceof DomainError && error.code === code,
        code,
      )
    }
  })

  it('says so when nobody answers, or nobody who knows the token', async (t) => {
    const { url } = await listen(t, createFakeAdmin())
    const stranger = createAdminClient({ url, token: 'other' })
    await assert.rejects(stranger.status(), (error) => error instanceof ControlUnreachableError)
    const nobody = createAdminClient({ url: 'http://127.0.0.1:1', token: TOKEN })
    await assert.rejects(nobody.status(), {
      name: 'ControlUnreachableError',
      message: /ECONNREFUSED/,
    })
  })

  it('comes again when its place was given away before it was heard, but not for ever', async (t) => {
    const { url } = await listen(t, createFakeAdmin())
    let cuts = 0
    const gate = createTcpServer((socket) => {
      socket.on('error', () => undefined)
      if (cuts > 0) {
        cuts -= 1
        socket.resetAndDestroy()
        return
      }
      // Its connection to the listener is named by another port; the host has to fit.
      const { hostname, port } = new URL(url)
      const onward = connect(Number(port), hostname).on('error', () => undefined)
      socket.once('data', (head) => {
        onward.write(String(head).replace(/^Host: .*$/m, `Host: ${hostname}:${port}`))
        socket.pipe(onward).pipe(socket)
      })
    })
    t.after(() => gate.close())
    await once(gate.listen(0, '127.0.0.1'), 'listening')
    const { port } = gate.address() as AddressInfo
    const client = createAdminClient({ url: `http://127.0.0.1:${port}`, token: TOKEN })
    cuts = 5
    assert.deepEqual(await client.status(), STATUS)
    cuts = 1000
    await assert.rejects(client.status(), {
      name: 'ControlUnreachableError',
      message: /ECONNRESET/,
    })
    assert.ok(cuts > 900, `${1000 - cuts} attempts`)
  })

  it('says so when something else answers', async (t) => {
    const server = createServer((_request, response) => response.end('<html>a router</html>'))
    t.after(() => server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const client = createAdminClient({ url: `http://127.0.0.1:${port}`, token: TOKEN })
    await assert.rejects(client.status(), { name: 'ControlUnreachableError', message: /not JSON/ })
  })
})
