import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { createAdminClient } from '../../src/control/admin-client.ts'
import { parseConnectLink } from '../../src/link/connect-link.ts'
import { createFakeAdmin, STATUS } from '../support/fake-admin.ts'
import { listen as listenOn } from '../support/listen.ts'
import { openControl, OWNER, TOKEN, type OpenControlOptions } from './support/open-control.ts'
import { NEW_PHONE } from '../support/owner.ts'

/** A control listener, and a client that knows its token. */
async function listen(t: TestContext, options?: OpenControlOptions) {
  const opened = await openControl(t, options)
  return { ...opened, client: createAdminClient({ url: opened.url, token: TOKEN }) }
}

describe('the control listener', () => {
  it('says that it lives, without a token and without an identity', async (t) => {
    const { ask } = await listen(t)
    const { status, body, headers } = await ask('/health')
    assert.equal(status, 200)
    assert.deepEqual(JSON.parse(body), { status: 'ok' })
    assert.equal(headers['server'], undefined)
  })

  it('takes the scheme of the token in any case', async (t) => {
    const { ask } = await listen(t)
    const headers = { Authorization: `bEARER  ${TOKEN}` }
    assert.equal((await ask('/status', { headers })).status, 200)
  })

  it('answers to its own names, in any case', async (t) => {
    const { ask, port } = await listen(t)
    for (const Host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`]) {
      const { status } = await ask('/status', { headers: { ...OWNER, Host } })
      assert.equal(status, 200, Host)
    }
  })

  it('lets no page of another origin ask what it may send', async (t) => {
    const { ask } = await listen(t)
    const headers = { Origin: 'http://evil.example' }
    const preflight = await ask('/devices', { method: 'OPTIONS', headers })
    assert.ok(preflight.status >= 400)
    assert.equal(preflight.headers['access-control-allow-origin'], undefined)
  })

  it('works on IPv6 loopback', async (t) => {
    const { client } = await listen(t, { host: '::1' })
    assert.equal((await client.status()).running, true)
  })

  it('answers 400 to a body that is no pair request, and says which field is wrong', async (t) => {
    const { ask } = await listen(t)
    const post = (body: string) => ask('/devices', { method: 'POST', headers: OWNER, body })
    for (const body of ['', '{', '[]', '{"kind":"fridge"}', '{"kind":"phone","label":5}']) {
      assert.equal((await post(body)).status, 400, body)
    }
    assert.match((await post('{"kind":"phone","label":5}')).body, /\\"label\\" must be a string/)
    assert.equal((await post(`{"kind":"phone","label":"${'x'.repeat(70_000)}"}`)).status, 413)
  })

  it('logs an unexpected failure, and tells nothing of it', async (t) => {
    const broken = {
      ...(await createFakeAdmin()),
      status: () => Promise.reject(new Error('disk on fire')),
    }
    const { ask, logger, client } = await listen(t, { admin: broken })
    const { status, body } = await ask('/status', { headers: OWNER })
    assert.equal(status, 500)
    assert.doesNotMatch(body, /fire/)
    assert.match(logger.text, /disk on fire/)
    await assert.rejects(client.status(), { message: /Unexpected failure/ })
  })
})

describe('createAdminClient()', () => {
  it('gives back what the daemon says, absent members included', async (t) => {
    const admin = await createFakeAdmin({ warning: 'Nobody can reach this' })
    const { client } = await listen(t, { admin })
    assert.deepEqual(await client.status(), STATUS)
    assert.deepEqual(await client.devices(), [])

    const chosen = { label: 'Ünïcode 📱', username: 'my_phone', password: 'pässword' }
    const { id, link, page, ...pairing } = await client.pair({ ...NEW_PHONE, ...chosen })
    const url = 'http://192.168.1.20:42720'
    assert.deepEqual(pairing, { ...chosen, kind: 'phone', url, warning: 'Nobody can reach this' })
    const { label, username: user, password: pwd } = chosen
    const o = { did: id, label, proto: 'syncclipboard' }
    assert.equal(page, `${url}/phone#${link.split('&p=')[1]}`)
    assert.deepEqual(parseConnectLink(link), { v: 1, url, user, pwd, o })
    const [device] = await client.devices()
    assert.deepEqual([device?.id, device?.streams, device?.active], [id, 2, true])
    assert.deepEqual(await client.devices(), await admin.devices())
  })

  it('rotates and revokes by id and by user name', async (t) => {
    const admin = await createFakeAdmin()
    const { client } = await listen(t, { admin })
    const { id, username, password } = await client.pair(NEW_PHONE)
    const rotated = await client.rotate(username)
    assert.equal(rotated.id, id)
    assert.notEqual(rotated.password, password)
    assert.deepEqual(await client.revoke(id), { id, unsaved: undefined })
    assert.deepEqual(await client.devices(), [])
  })

  it('fails as the registry does', async (t) => {
    const { client } = await listen(t)
    await client.pair({ ...NEW_PHONE, username: 'my_phone' })
    const failures: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => client.rotate('nobody_here'), 'NO_SUCH_DEVICE'],
      [() => client.revoke('did_0'), 'NO_SUCH_DEVICE'],
      [() => client.revoke('..'), 'NO_SUCH_DEVICE'],
      [() => client.rotate('a/b?c'), 'NO_SUCH_DEVICE'],
      [() => client.pair({ ...NEW_PHONE, username: 'my_phone' }), 'USERNAME_TAKEN'],
      [() => client.pair({ ...NEW_PHONE, username: '1' }), 'USERNAME_INVALID'],
      [() => client.pair({ ...NEW_PHONE, password: 'short' }), 'PASSWORD_INVALID'],
      [() => client.pair({ ...NEW_PHONE, label: '' }), 'LABEL_INVALID'],
    ]
    for (const [failure, code] of failures) {
      await assert.rejects(failure(), { name: 'DomainError', code })
    }
  })

  it('says so when nobody answers, or nobody who knows the token', async (t) => {
    const { url } = await listen(t)
    const stranger = createAdminClient({ url, token: 'other' })
    await assert.rejects(stranger.status(), { name: 'ControlUnreachableError' })
    const nobody = createAdminClient({ url: 'http://127.0.0.1:1', token: TOKEN })
    const refused = { name: 'ControlUnreachableError', message: /ECONNREFUSED/ }
    await assert.rejects(nobody.status(), refused)
  })

  it('comes again when its place was given away before it was heard, but not for ever', async (t) => {
    const { url } = await listen(t)
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
    const port = await listenOn(t, gate)
    const client = createAdminClient({ url: `http://127.0.0.1:${port}`, token: TOKEN })
    cuts = 5
    assert.deepEqual(await client.status(), STATUS)
    cuts = 1000
    const cut = { name: 'ControlUnreachableError', message: /ECONNRESET/ }
    await assert.rejects(client.status(), cut)
    assert.ok(cuts > 900, `${1000 - cuts} attempts`)
  })

  it('says so when something else answers', async (t) => {
    const server = createServer((_request, response) => response.end('<html>a router</html>'))
    const port = await listenOn(t, server)
    const client = createAdminClient({ url: `http://127.0.0.1:${port}`, token: TOKEN })
    await assert.rejects(client.status(), { name: 'ControlUnreachableError', message: /not JSON/ })
  })
})
