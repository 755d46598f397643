import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serveGateway } from '../support/gateway.ts'
import { serveGuarded } from '../support/guarded-gateway.ts'

describe('GET /healthz', () => {
  // Protocol: Its cost is constant
  // Protocol: `Authorization` is ignored
  // Protocol: `/health` of the control listener is something else
  // Protocol: `GET /healthz`
  it('answers anybody with 204, no body and nothing to cache', async (t) => {
    const { url, verifier, devices, logger } = await serveGateway(t)
    for (const headers of [{}, { authorization: 'Basic bm8=' }, { authorization: 'junk' }]) {
      const response = await fetch(`${url}/healthz`, { headers })
      assert.equal(response.status, 204)
      assert.equal(response.headers.get('cache-control'), 'no-store')
      assert.equal(await response.text(), '')
      assert.equal(response.headers.get('server'), null)
    }
    assert.equal(verifier.calls, 0)
    assert.deepEqual(logger.lines, [])
    assert.equal(devices.list()[0]?.lastSeenAt, undefined)
  })

  // Protocol: Methods other than GET and HEAD are 405
  it('answers HEAD, and 405 to other methods, without asking who it is', async (t) => {
    const { url } = await serveGateway(t)
    assert.equal((await fetch(`${url}/healthz`, { method: 'HEAD' })).status, 204)
    const refused = await fetch(`${url}/healthz`, { method: 'POST', body: 'x' })
    assert.equal(refused.status, 405)
    assert.equal(refused.headers.get('allow'), 'GET, HEAD')
  })
})

describe('the server', () => {
  // Protocol, Probes: `GET /`
  // Protocol: `GET /api/time`
  // Protocol: `GET /api/version`, `GET /version`
  // Protocol, Probes: `OPTIONS /`
  it('says that it runs, what time it is, which program it is and what it takes', async (t) => {
    const { send, authorization } = await serveGuarded(t)
    for (const [request, status, body, type] of [
      ['GET /', 200, 'Server is running.', /^text\/plain\b/],
      // The moment at which the clock of the tests begins.
      ['GET /api/time', 200, '"2026-01-31T12:34:56.789Z"', /^application\/json$/],
      ['GET /api/version', 200, '"clipgate 1.2.3"', /^application\/json$/],
      ['GET /version', 200, '"clipgate 1.2.3"', /^application\/json$/],
      ['OPTIONS /', 204, '', /^$/],
      ['OPTIONS *', 204, '', /^$/],
    ] as const) {
      const fields = `Host: box\r\nAuthorization: ${authorization}`
      const answer = await send(`${request} HTTP/1.1\r\n${fields}\r\n\r\n`)
      assert.deepEqual([answer.status, answer.body], [status, body], request)
      assert.match(answer.headers['content-type'] ?? '', type, request)
      const allow = status === 204 ? 'GET, HEAD, OPTIONS, PROPFIND, MKCOL' : undefined
      assert.equal(answer.headers['allow'], allow, request)
    }
  })
})
