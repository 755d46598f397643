import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer, type LookupFunction } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import type { ExamineOptions } from '../../src/doctor/through/examine.ts'
import { defer } from '../support/defer.ts'
import { listen } from '../support/listen.ts'
import { needs } from '../support/requirements.ts'
import { SITE } from '../proxies/support/certificate.ts'
import { makeCertificate, type CertificateOptions } from '../support/certificates.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { examineHere, lookupHere, problemsOf, show } from './support/examine-site.ts'
import { serveQuickGateway } from './support/quick-gateway.ts'
import { startStandIn, type Fault } from './support/stand-in.ts'

/** A lookup that finds these, in this order. */
function lookupOf(...addresses: readonly string[]): LookupFunction {
  return (_host, _options, callback) => {
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    callback(null, found)
  }
}

interface Served extends CertificateOptions {
  readonly name: string
}

async function serveTls(t: TestContext, { name, ...options }: Served) {
  const altName = `DNS:${name}`
  const folder = await temporaryFolder(t)
  const { key, cert } = await makeCertificate(folder, name, { altName, ...options })
  const tls = { key, cert }
  const gateway = await serveQuickGateway(t)
  const site = await startStandIn(t, { upstream: gateway.url, tls })
  const { admin } = gateway
  const url = `https://${SITE}:${site.port}`
  const check = (options: Partial<ExamineOptions> = {}) =>
    examineHere({ url }, { admin, lookup: lookupHere, ...options })
  return { check, site, ca: cert }
}

describe('the certificate of an address', needs('openssl'), () => {
  it('is fine when it is trusted, for the name, and good for long', async (t) => {
    const { check, ca } = await serveTls(t, { name: SITE, days: 100 })
    const findings = await check({ ca })
    const tls = findings.find((finding) => finding.check === 'tls')
    assert.deepEqual([tls?.ok, tls?.fix], [true, undefined])
    assert.match(tls?.detail ?? '', /^TLSv1\.3, HTTP\/1\.1, certificate good for (99|100) days$/)
    // The stand-in passes on what clients say of themselves.
    assert.deepEqual(problemsOf(findings), ['client-address'], show(findings))
  })

  it('is a hint when it ends soon', async (t) => {
    const { check, ca } = await serveTls(t, { name: SITE, days: 5 })
    const tls = (await check({ ca })).find((finding) => finding.check === 'tls')
    assert.deepEqual([tls?.ok, /renewed/.test(tls?.fix ?? '')], [true, true])
  })

  it('is a problem otherwise, and no password is sent', needs('faketime'), async (t) => {
    const cases: readonly (readonly [Served, boolean, RegExp])[] = [
      [{ name: SITE, days: 100 }, false, /authority that phones know/],
      [{ name: 'other.example.com', days: 100 }, true, /get one for this name/],
      [{ name: SITE, isExpired: true }, true, /renew it/],
    ]
    for (const [wanted, isTrusted, fix] of cases) {
      const { check, site, ca } = await serveTls(t, wanted)
      const findings = await check(isTrusted ? { ca } : {})
      assert.deepEqual(problemsOf(findings), ['tls'], show(findings))
      assert.match(findings.find(({ ok }) => !ok)?.fix ?? '', fix)
      assert.equal(site.logins.size, 0)
    }
  })

  it('is worth little beside plain HTTP', async (t) => {
    const { check, ca } = await serveTls(t, { name: SITE, days: 100 })
    const { url } = await serveQuickGateway(t)
    const say = async (intercept: NonNullable<Fault['intercept']>) => {
      const { port, logins } = await startStandIn(t, { upstream: url, fault: { intercept } })
      const findings = await check({ ca, plainPort: port })
      assert.equal(logins.size, 0)
      const { ok, fix } = findings.find((finding) => finding.check === 'plain-http') ?? {}
      return { ok, fix: fix?.slice(0, 20) }
    }
    const answer = (status: number) => (_request: unknown, response: ServerResponse) => {
      response.writeHead(status, { Location: `https://${SITE}/` }).end()
      return true
    }
    assert.deepEqual(await say(() => false), { ok: false, fix: 'have the proxy answe' })
    assert.deepEqual(await say(answer(301)), { ok: true, fix: 'close the connection' })
    assert.deepEqual(await say(answer(404)), { ok: true, fix: undefined })
    const hangUp = await say((request) => request.socket.destroy() !== undefined)
    assert.deepEqual(hangUp, { ok: true, fix: undefined })
  })

  it('is a problem when there is none', async (t) => {
    const gateway = await serveQuickGateway(t)
    const url = gateway.url.replace('http:', 'https:')
    const findings = await examineHere({ url }, { admin: gateway.admin })
    assert.deepEqual(problemsOf(findings), ['tls'], show(findings))
    assert.match(findings.find(({ ok }) => !ok)?.fix ?? '', /speak TLS on this port/)
  })
})

describe('the way to an address', () => {
  it('is a problem when its name has no address', async () => {
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), [])
    const findings = await examineHere({ url: 'http://clip.example.com' }, { lookup })
    assert.deepEqual(problemsOf(findings), ['reach'])
    assert.match(findings[0]?.fix ?? '', /DNS/)
  })

  it('is a problem when nobody listens, and when a resolver is silent', async (t) => {
    const server = createServer()
    const port = await listen(t, server)
    await once(server.close(), 'close')
    const findings = await examineHere({ url: `http://127.0.0.1:${port}` })
    assert.deepEqual(problemsOf(findings), ['reach'])
    assert.match(findings[0]?.detail ?? '', /ECONNREFUSED/)
    assert.match(findings[0]?.fix ?? '', /--link-file/)

    const patience = { connectMs: 50 }
    const name = { url: 'http://clip.example.com' }
    const silent = await examineHere(name, { lookup: () => undefined, patience })
    assert.deepEqual(problemsOf(silent), ['reach'])
  })

  it('is a hint when one of its addresses does not answer', async (t) => {
    const gateway = await serveQuickGateway(t)
    const url = gateway.url.replace('127.0.0.1', 'clip.example.com')
    const lookup: LookupFunction = (host, options, callback) =>
      options.all === true
        ? lookupOf('::1', '127.0.0.1')(host, options, callback)
        : callback(null, '127.0.0.1', 4)
    const address = { url, credentials: gateway.credentials }
    const findings = await examineHere(address, { lookup, patience: { connectMs: 5000 } })
    const [reach] = findings
    assert.deepEqual([reach?.check, reach?.ok], ['reach', true])
    assert.match(reach?.detail ?? '', /^127\.0\.0\.1, .* but ::1 /)
    assert.match(reach?.fix ?? '', /DNS record/)
  })

  it('is a problem when a password would cross the internet in the clear', async () => {
    // One is of the ranges for documentation: nobody is there, and nothing is sent.
    const lookup = lookupOf('192.168.1.7', '203.0.113.7')
    const url = 'http://clip.example.com'
    const findings = await examineHere({ url }, { lookup })
    assert.deepEqual(problemsOf(findings), ['tls'])
    assert.match(findings[0]?.fix ?? '', /docs\/proxy\.md/)
  })

  it('ends in time, and at once when it is told to', async (t) => {
    const hole = createServer((socket) => t.after(() => socket.destroy()))
    const port = await listen(t, hole)
    const patience = { totalMs: 100 }
    const late = await examineHere({ url: `http://127.0.0.1:${port}` }, { patience })
    assert.deepEqual(problemsOf(late), ['patience'])

    const { admin, url } = await serveQuickGateway(t)
    const asked = defer<undefined>()
    const intercept = (): true => {
      asked.resolve(undefined)
      return true
    }
    const silent = await startStandIn(t, { upstream: url, fault: { intercept } })
    const controller = new AbortController()
    const { signal } = controller
    const examined = examineHere({ url: silent.url }, { admin, signal })
    await asked.promise
    assert.equal((await admin.devices()).length, 2)
    const reason = new Error('enough')
    controller.abort(reason)
    await assert.rejects(examined, reason)
    assert.equal((await admin.devices()).length, 1)
  })
})
