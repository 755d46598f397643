import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serveGateway } from '../support/gateway.ts'

describe('GET /healthz', () => {
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

  it('answers HEAD, and 405 to other methods, without asking who it is', async (t) => {
    const { url } = await serveGateway(t)
    assert.equal((await fetch(`${url}/healthz`, { method: 'HEAD' })).status, 204)
    const refused = await fetch(`${url}/healthz`, { method: 'POST', body: 'x' })
    assert.equal(refused.status, 405)
    assert.equal(refused.headers.get('allow'), 'GET, HEAD')
  })

  it('answers 503 while draining, and so does everything else', async (t) => {
    const { url, phone } = await serveGateway(t, { isDraining: () => true })
    for (const response of [await fetch(`${url}/healthz`), await phone.fetch('/Sync.json')]) {
      assert.equal(response.status, 503)
      assert.equal(response.headers.get('retry-after'), '1')
      assert.equal(response.headers.get('cache-control'), 'no-store')
    }
  })
})
