import assert from 'node:assert/strict'
import { once } from 'node:events'
import { X509Certificate } from 'node:crypto'
import { chmod, copyFile, readFile, stat, writeFile } from 'node:fs/promises'
import { request, type RequestOptions } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { listSecureAddresses } from '../../src/daemon/addresses.ts'
import { startDaemon, type Daemon } from '../../src/daemon/start-daemon.ts'
import type { Settings } from '../../src/daemon/settings.ts'
import { LOOK_MS } from '../../src/tls/follow-identity.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { makeAuthority, makeCertificate } from '../support/certificates.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { NEW_PHONE } from '../support/owner.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ANYWHERE = { host: '127.0.0.1', port: 0 }

/** A daemon with TLS, and the files of its certificate. */
async function setUp(t: TestContext, more: Partial<Settings> = {}) {
  const folder = await temporaryFolder(t)
  const authority = await makeAuthority(folder)
  const make = (name: string, altName: string) =>
    makeCertificate(folder, name, { altName, authority })
  const first = await make('first', 'IP:127.0.0.1,DNS:desk.example')
  const second = await make('second', 'IP:127.0.0.1,DNS:other.example')
  const [tlsCert, tlsKey] = [join(folder, 'served.pem'), join(folder, 'served.key')]
  await copyFile(first.certPath, tlsCert)
  await copyFile(first.keyPath, tlsKey)
  const [clock, logger] = [new FakeClock(Date.now()), new CaptureLogger()]
  const start = async (): Promise<Daemon> => {
    const base = { dataDir: join(folder, 'data'), headless: true, control: ANYWHERE }
    const settings = {
      ...base,
      listen: [ANYWHERE],
      tlsListen: [ANYWHERE],
      tlsCert,
      tlsKey,
      ...more,
    }
    const daemon = await startDaemon(settings, { clock, logger })
    t.after(() => daemon.stop())
    return daemon
  }
  return { folder, authority, first, second, tlsCert, tlsKey, clock, logger, start }
}

/** Asks over TLS, as a client that trusts one authority. */
async function ask(url: string, options: RequestOptions): Promise<IncomingMessage> {
  const [answer] = await once(request(url, { agent: false, ...options }).end(), 'response')
  return answer
}

/** The common name of the certificate that is served. */
async function served(url: string, ca: string): Promise<string> {
  const answer = await ask(`${url}/healthz`, { ca })
  answer.resume()
  return Reflect.get(answer.socket, 'getPeerCertificate').call(answer.socket).subject.CN
}

describe('a daemon with TLS', () => {
  it('serves the same devices on a port of its own, and says where', async (t) => {
    const { start, authority } = await setUp(t)
    const { ready, admin } = await start()
    const [plain = '', secure = ''] = ready.listening
    assert.deepEqual([plain, new URL(secure).protocol], [ready.gateway, 'https:'])
    const { username, password, url } = await admin.pair(NEW_PHONE)
    assert.equal(url, plain)
    const auth = `${username}:${password}`
    for (const [options, status] of [
      [{ auth }, 200],
      [{}, 401],
    ] as const) {
      const answer = await ask(`${secure}/Sync.json`, { ca: authority.cert, ...options })
      assert.equal(answer.resume().statusCode, status)
    }
    const { tls, listeners } = await admin.status()
    assert.deepEqual(
      listeners.map(({ name }) => name),
      ['gateway', 'tls', 'control'],
    )
    assert.deepEqual(tls?.urls, [`https://desk.example:${new URL(secure).port}`])
    assert.equal(tls.error, undefined)
  })

  it('reads a certificate again that has changed, under load, and cuts nothing', async (t) => {
    const { start, authority, clock, logger, second, tlsCert, tlsKey } = await setUp(t)
    const { ready, admin } = await start()
    const [, url = ''] = ready.listening
    const { username, password } = await admin.pair(NEW_PHONE)
    const auth = `${username}:${password}`
    const trusting = { ca: authority.cert, auth }
    const stream = await ask(`${url}/api/sse/clipboard`, trusting)
    await once(stream, 'data')
    assert.equal(await served(url, authority.cert), 'first')
    const upload = request(`${url}/file/a`, { agent: false, method: 'PUT', ...trusting })
    upload.write('begun, ')
    let isOver = false
    const comeAndGo = async (): Promise<void> => {
      while (!isOver) {
        const answer = await ask(`${url}/healthz`, { ca: authority.cert })
        assert.equal(answer.resume().statusCode, 204)
      }
    }
    const load = Promise.all([comeAndGo(), comeAndGo(), comeAndGo()])

    // One of the two is written before the other.
    const told = async (message: string): Promise<void> => {
      clock.advance(LOOK_MS)
      while (!logger.text.includes(message)) await new Promise((resolve) => setImmediate(resolve))
    }
    await copyFile(second.certPath, tlsCert)
    await told('cannot be used')
    assert.equal(await served(url, authority.cert), 'first')
    assert.match((await admin.status()).tls?.error ?? '', /the key belongs to another/)

    await copyFile(second.keyPath, tlsKey)
    await told('is another one')
    assert.equal(await served(url, authority.cert), 'second')
    const { tls } = await admin.status()
    assert.deepEqual([tls?.error, tls?.urls[0]?.includes('other.example')], [undefined, true])
    assert.doesNotMatch(logger.text, /PRIVATE|BEGIN/)
    isOver = true
    await load
    const [stored] = await once(upload.end('and done'), 'response')
    assert.equal(stored.resume().statusCode, 200)
    clock.advance(30_000)
    await once(stream, 'data')
  })

  it('refuses a key that others may read, and files that do not belong together', async (t) => {
    const { start, second, tlsCert, tlsKey } = await setUp(t)
    await chmod(tlsKey, 0o640)
    await assert.rejects(start(), /--tls-key .*others may read it; chmod 600 it/)
    await chmod(tlsKey, 0o600)
    await copyFile(second.certPath, tlsCert)
    await assert.rejects(start(), /the key belongs to another certificate/)
    const without = await setUp(t, { tlsKey: undefined })
    await assert.rejects(without.start(), /--tls-cert without --tls-key/)
    const missing = await setUp(t, { tlsCert: '/nowhere/cert.pem' })
    await assert.rejects(missing.start(), /--tls-cert \/nowhere\/cert\.pem: there is no such file/)
  })
})

describe('a daemon with TLS and an authority of its own', () => {
  const local = { tls: 'local', tlsCert: undefined, tlsKey: undefined } as const
  const inFolder = (folder: string) => join(folder, 'data', 'tls-authority.pem')

  // Protocol: says how to trust the authority of `--tls local`
  it('is handed to phones over plain HTTP, with what to compare', async (t) => {
    const { start, folder } = await setUp(t, local)
    const { ready, admin } = await start()
    const { raw, fingerprint256 } = new X509Certificate(await readFile(inFolder(folder)))
    const page = await fetch(`${ready.gateway}/phone/trust`)
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    const html = await page.text()
    assert.ok(html.replaceAll('<wbr>', '').includes(fingerprint256))
    assert.doesNotMatch(html, /PRIVATE/)
    for (const [, path = ''] of html.matchAll(/href="(trust\/[^"]+)"/g)) {
      const answer = await fetch(new URL(path, page.url))
      const body = Buffer.from(await answer.arrayBuffer())
      const isRaw = answer.headers.get('content-type') === 'application/x-x509-ca-cert'
      assert.ok(isRaw ? body.equals(raw) : body.includes(raw.toString('base64')), path)
    }
    const { tls } = await admin.status()
    for (const url of tls?.urls ?? []) assert.ok(html.includes(`${url}/phone/trust/works`))
    const secure = ready.listening[1] ?? ''
    const ca = await readFile(inFolder(folder), 'utf8')
    const works = await ask(`${secure}/phone/trust/works`, { ca })
    assert.equal(works.resume().statusCode, 200)
    // Without HTTPS nothing works that has to be proven.
    assert.equal((await fetch(`${ready.gateway}/phone/trust/works`)).status, 404)
    const without = await setUp(t)
    const { ready: files } = await without.start()
    assert.equal((await fetch(`${files.gateway}/phone/trust`)).status, 404)
  })

  it('is trusted by whoever trusts that, after a restart too', async (t) => {
    const { start, folder } = await setUp(t, local)
    const daemon = await start()
    const ca = await readFile(inFolder(folder), 'utf8')
    assert.equal((await stat(inFolder(folder))).mode & 0o777, 0o600)
    const { tls } = await daemon.admin.status()
    assert.equal(tls?.source, 'local')
    assert.equal(tls.fingerprint, new X509Certificate(ca).fingerprint256)
    assert.equal(await served(daemon.ready.listening[1] ?? '', ca), 'clipgate')
    await daemon.stop()
    const again = await start()
    assert.equal(await served(again.ready.listening[1] ?? '', ca), 'clipgate')
    assert.equal(await readFile(inFolder(folder), 'utf8'), ca)
  })

  it('makes its certificate anew before that ends, and cuts no stream', async (t) => {
    const { start, folder, clock, logger } = await setUp(t, local)
    // The clients of this test live in the present.
    clock.jump(-370 * 86_400_000)
    const { ready, admin } = await start()
    const before = (await admin.status()).tls?.notAfter ?? ''
    const { username, password } = await admin.pair(NEW_PHONE)
    const [, url = ''] = ready.listening
    const ca = await readFile(inFolder(folder), 'utf8')
    const auth = `${username}:${password}`
    // By the clock of the client the first certificate has ended.
    const options = { ca, auth, rejectUnauthorized: false }
    const stream = await ask(`${url}/api/sse/clipboard`, options)
    await once(stream, 'data')
    clock.jump(370 * 86_400_000)
    clock.advance(LOOK_MS)
    while (!logger.text.includes('another one'))
      await new Promise((resolve) => setImmediate(resolve))
    const after = (await admin.status()).tls?.notAfter ?? ''
    assert.ok(Date.parse(after) - Date.parse(before) >= 370 * 86_400_000)
    assert.equal(await served(url, ca), 'clipgate')
    assert.doesNotMatch(logger.text, /PRIVATE|BEGIN/)
    clock.advance(30_000)
    await once(stream, 'data')
  })

  it('serves on while the clock is wrong, tells why phones refuse it, and heals', async (t) => {
    const { start, clock } = await setUp(t, local)
    await (await start()).stop()
    clock.jump(-60 * 86_400_000)
    const { admin, ready } = await start()
    const plain = ready.listening[0] ?? ''
    assert.equal((await fetch(`${plain}/healthz`)).status, 204)
    const error = async () => (await admin.status()).tls?.error
    assert.match((await error()) ?? '', /good from .* to .*; set the clock, or remove it/)
    clock.jump(60 * 86_400_000)
    clock.advance(LOOK_MS)
    while ((await error()) !== undefined) await new Promise((resolve) => setImmediate(resolve))
  })

  it('refuses an authority that others may read, or that is none', async (t) => {
    const { start, folder } = await setUp(t, local)
    await (await start()).stop()
    const path = inFolder(folder)
    await chmod(path, 0o644)
    await assert.rejects(start(), /tls-authority\.pem: others may read it/)
    await chmod(path, 0o600)
    await writeFile(path, 'nothing')
    await assert.rejects(start(), /its certificate is none; remove it/)
    const both = await setUp(t, { tls: 'local' })
    await assert.rejects(both.start(), /choose one of the two/)
  })
})

describe('listSecureAddresses()', () => {
  it('names what the certificate is good for, by name first', () => {
    const interfaces = {
      eth0: [{ address: '192.168.1.20', internal: false, cidr: '192.168.1.20/24' }],
      wlan0: [{ address: 'fd00::7', internal: false, cidr: 'fd00::7/64' }],
    }
    const hosts = ['0.0.0.0', '::']
    const bound = hosts.map((host) => ({ host, port: 42_722, isSecure: true }))
    const urls = (...names: readonly string[]) =>
      listSecureAddresses(bound, interfaces, names).map(({ url, kind }) => `${url} ${kind}`)
    assert.deepEqual(
      urls('192.168.1.20', 'fd00::7', '10.0.0.1', 'desk.local', '*.example', 'localhost'),
      [
        'https://desk.local:42722 lan',
        'https://192.168.1.20:42722 lan',
        'https://[fd00::7]:42722 lan',
      ],
    )
    assert.deepEqual(urls('10.0.0.1'), [])
  })
})
