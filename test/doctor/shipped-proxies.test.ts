import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { startCaddy } from '../proxies/support/caddy.ts'
import { startNginx } from '../proxies/support/nginx.ts'
import { PUBLIC_URL, startProxiedDaemon } from '../proxies/support/proxied-daemon.ts'
import type { StartProxy } from '../proxies/support/proxy-process.ts'
import { needs } from '../support/requirements.ts'
import { examineHere, lookupHere, openOwner, show } from './support/examine-site.ts'

async function testSite(t: TestContext, start: StartProxy): Promise<void> {
  const site = await startProxiedDaemon(t, start, '--heartbeat', '50ms')
  await site.phone.pushFile('File', 'photo.txt', Buffer.from('hello'))
  const admin = await openOwner(t, site.daemon)
  const before = await site.phone.document()

  const findings = await examineHere(
    { url: `${PUBLIC_URL}:${site.proxy.port}`, credentials: undefined },
    { admin, ca: site.certificate.certificate, lookup: lookupHere },
  )
  assert.deepEqual(
    findings.map(({ check, ok }) => [check, ok]),
    [
      ['reach', true],
      ['tls', true],
      ['health', true],
      ['challenge', true],
      ['authorization', true],
      ['answer-cache', true],
      ['errors', true],
      ['paths', true],
      ['compression', true],
      ['range', true],
      ['body-limit', true],
      ['upload-buffering', true],
      ['server-clock', true],
      ['origin', true],
      ['client-address', true],
      ['events', true],
      ['health-cache', true],
    ],
    show(findings),
  )
  assert.match(
    findings.find(({ check }) => check === 'range')?.detail ?? '',
    /parts of files arrive/,
  )

  assert.deepEqual(await site.phone.document(), before, 'the clipboard is as it was')
  assert.deepEqual(
    (await admin.devices()).map(({ id }) => id),
    [site.device.id],
  )
  assert.equal((await admin.status()).storage.stagedUploads, 0)
}

describe('clipgate doctor --through, with the shipped sites', () => {
  it('finds nothing wrong with nginx', needs('nginx', 'openssl'), (t) => testSite(t, startNginx))
  it('finds nothing wrong with Caddy', needs('caddy', 'openssl'), (t) => testSite(t, startCaddy))
})
