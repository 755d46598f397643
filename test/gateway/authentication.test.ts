import assert from 'node:assert/strict'
import { Agent, get, type IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import { serveGateway } from '../support/gateway.ts'

const PATHS = [
  '/', '/api/time', '/api/version', '/version', '/Sync.json', '/SyncClipboard.json', '/file',
  '/file/a', '/no/such/path', '/healthz/x', '//healthzz',
]

/** A GET over `agent` with exactly these raw headers. */
function request(url: string, agent: Agent, headers: readonly string[]): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { host } = new URL(url)
    get(url, { agent, headers: ['Host', host, ...headers] }, (response) => {
      response.resume().on('end', () => resolve(response))
    }).on('error', reject)
  })
}

describe('a request', () => {
  it('is refused without valid credentials, whatever it asks for, and always in the same way', async (t) => {
    const { url, device } = await serveGateway(t)
    const bodies = new Set<string>()
    const wrong = [
      undefined, 'Basic', 'Basic !', 'Bearer x', 'Basic bm9jb2xvbg==',
      `Basic ${btoa('nobody:wrong-password')}`, `Basic ${btoa(`${device.username}:wrong-password`)}`,
      `Basic ${btoa(`${device.username}:`)}`, `Basic ${btoa(`${device.id}:x`)}`,
      `Basic ${btoa(`${device.username}:${'x'.repeat(257)}`)}`,
    ]
    for (const path of PATHS) {
      for (const authorization of wrong) {
        const headers = authorization === undefined ? {} : { authorization }
        const response = await fetch(`${url}${path}`, { headers })
        assert.equal(response.status, 401, path)
        assert.equal(
          response.headers.get('www-authenticate'),
          'Basic realm="clipgate", charset="UTF-8"',
        )
        assert.equal(response.headers.get('content-type'), 'application/problem+json')
        bodies.add(await response.text())
      }
    }
    assert.equal(bodies.size, 1)
  })

  it('costs a verification only when its credentials are well-formed', async (t) => {
    const { url, verifier } = await serveGateway(t)
    for (const authorization of ['Basic', 'junk', 'Basic bm9jb2xvbg==', `Basic ${'A'.repeat(4000)}`]) {
      await fetch(url, { headers: { authorization } })
    }
    assert.equal(verifier.calls, 0)
    await fetch(url, { headers: { authorization: `Basic ${btoa('nobody:x')}` } })
    assert.equal(verifier.calls, 1)
  })

  it('with two Authorization headers is refused, also when both are right', async (t) => {
    const { url, authorization, verifier } = await serveGateway(t)
    const agent = new Agent()
    const both = ['Authorization', authorization, 'authorization', authorization]
    assert.equal((await request(url, agent, both)).statusCode, 401)
    assert.equal(verifier.calls, 0)
  })

  it('is judged by itself, not by what its connection did before', async (t) => {
    const { url, authorization, verifier } = await serveGateway(t)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    const statuses: (number | undefined)[] = []
    const good = ['Authorization', authorization]
    for (const headers of [good, [], good, ['Authorization', `Basic ${btoa('a:b')}`], good]) {
      statuses.push((await request(url, agent, headers)).statusCode)
    }
    assert.deepEqual(statuses, [200, 401, 200, 401, 200])
    assert.equal(verifier.calls, 2, 'the connection remembers the verified header')
  })

  it('is refused right after rotation and revocation, on an open connection too', async (t) => {
    const { url, authorization, devices, device } = await serveGateway(t)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    const old = ['Authorization', authorization]
    assert.equal((await request(url, agent, old)).statusCode, 200)
    const { password } = await devices.rotate(device.id)
    assert.equal((await request(url, agent, old)).statusCode, 401)
    const rotated = ['Authorization', `Basic ${btoa(`${device.username}:${password}`)}`]
    assert.equal((await request(url, agent, rotated)).statusCode, 200)
    await devices.revoke(device.id)
    assert.equal((await request(url, agent, rotated)).statusCode, 401)
  })

  it('gets 503 when too many verifications wait', async (t) => {
    const { url, authorization, verifier } = await serveGateway(t)
    verifier.isBusy = true
    const response = await fetch(url, { headers: { authorization } })
    assert.equal(response.status, 503)
    assert.equal(response.headers.get('retry-after'), '1')
  })

  it('is remembered as the last sign of its device', async (t) => {
    const { phone, devices, clock } = await serveGateway(t)
    await phone.fetch('/SyncClipboard.json', { headers: { 'user-agent': 'Shortcuts/1' } })
    const [device] = devices.list()
    assert.equal(device?.lastSeenAt, clock.now())
    assert.equal(device?.lastSeenAddress, '127.0.0.1')
    assert.equal(device?.lastClient, 'Shortcuts/1')
    assert.equal(device?.dialect, 'syncclipboard')
  })
})
