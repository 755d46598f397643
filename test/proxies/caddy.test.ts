import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RawClient } from '../support/raw-http.ts'
import { needs } from '../support/requirements.ts'
import { proxySuite } from './proxy-suite.ts'
import { startCaddy } from './support/caddy.ts'
import { SITE } from './support/certificate.ts'
import { startProxiedDaemon } from './support/proxied-daemon.ts'

const TOOLS = needs('caddy', 'openssl', 'curl')

describe('Caddy, as deploy/caddy/Caddyfile sets it up', TOOLS, () => {
  proxySuite(startCaddy)

  it('answers nothing to plain HTTP', async (t) => {
    const { proxy } = await startProxiedDaemon(t, startCaddy)
    const client = await RawClient.open(t, proxy.httpPort)
    client.send(`GET /healthz HTTP/1.1\r\nHost: ${SITE}\r\n\r\n`)
    assert.equal(await client.readToEnd(), '')
  })
})
