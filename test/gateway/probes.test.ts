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

describe('the other probes', () => {
  it('answer with what clients look for', async (t) => {
    const { phone } = await serveGateway(t)
    const root = await phone.fetch('/')
    assert.match(root.headers.get('content-type') ?? '', /^text\/plain/)
    assert.equal(await root.text(), 'Server is running.')
    const time = await phone.fetch('/api/time')
    assert.equal(time.headers.get('content-type'), 'application/json')
    assert.equal(await time.text(), '"2026-01-31T12:34:56.789Z"')
    for (const path of ['/api/version', '/version']) {
      assert.equal(await (await phone.fetch(path)).text(), '"clipgate 1.2.3"')
    }
  })

  it('give clients in WebDAV mode the 2xx that they need', async (t) => {
    const { phone } = await serveGateway(t)
    for (const path of ['/', '/file', '/file/']) {
      assert.equal(
        (await phone.fetch(path, { method: 'PROPFIND', body: '<propfind/>' })).status,
        200,
      )
      assert.equal((await phone.fetch(path, { method: 'MKCOL' })).status, 201)
    }
    const options = await phone.fetch('/', { method: 'OPTIONS' })
    assert.equal(options.status, 204)
    assert.match(options.headers.get('allow') ?? '', /GET.*PROPFIND/)
  })
})
