import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { Patience } from '../../src/doctor/through/visit.ts'
import { startCaddy } from '../proxies/support/caddy.ts'
import { createClient } from '../proxies/support/https-client.ts'
import { startNginx } from '../proxies/support/nginx.ts'
import { PUBLIC_URL, startProxiedDaemon } from '../proxies/support/proxied-daemon.ts'
import { startOnFreePorts, type StartProxy } from '../proxies/support/proxy-process.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { examineHere, lookupHere, openOwner, problemsOf, show } from './support/examine-site.ts'
import { serveQuickGateway } from './support/quick-gateway.ts'

/** Every check through an address, in the order in which they are told. */
const CHECKS =
  'reach tls health challenge authorization answer-cache errors paths compression range body-limit ' +
  'upload-buffering hub server-clock origin client-address events health-cache'

async function testSite(t: TestContext, start: StartProxy): Promise<void> {
  const site = await startProxiedDaemon(t, start, '--heartbeat', '50ms')
  await site.phone.pushFile('File', 'photo.txt', Buffer.from('hello'))
  const admin = await openOwner(t, site.daemon)
  const before = await site.phone.document()

  const address = { url: `${PUBLIC_URL}:${site.proxy.port}` }
  const options = { admin, ca: site.certificate.cert, lookup: lookupHere }
  const findings = await examineHere(address, options)
  assert.deepEqual(problemsOf(findings), [], show(findings))
  assert.equal(findings.map(({ check }) => check).join(' '), CHECKS)
  const range = findings.find(({ check }) => check === 'range')
  assert.match(range?.detail ?? '', /parts of files arrive/)

  const token = await readFile(join(site.daemon.folder, 'data', 'control.token'), 'utf8')
  const told = JSON.stringify(findings)
  for (const secret of [token.trim(), site.device.password, site.device.username, 'photo.txt']) {
    assert.equal(told.includes(secret), false, 'a secret was told')
  }
  assert.deepEqual(await site.phone.document(), before, 'the clipboard is as it was')
  assert.deepEqual(
    (await admin.devices()).map(({ id }) => id),
    [site.device.id],
  )
  assert.equal((await admin.status()).storage.stagedUploads, 0)
}

/** nginx as people set it up who have not read how: nothing but the way to the gateway. */
async function startNaiveNginx(
  t: TestContext,
  upstream: string,
  more: readonly string[] = [],
): Promise<string> {
  const folder = await temporaryFolder(t)
  const main = join(folder, 'nginx.conf')
  const spools = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const { ports } = await startOnFreePorts(t, 1, async ([port = 0]) => {
    const lines = [
      // The worker of a root's nginx would be somebody who may not look into our folder.
      ...(process.getuid?.() === 0 ? ['user root;'] : []),
      'daemon off;',
      `pid ${folder}/nginx.pid;`,
      'error_log stderr notice;',
      'events {}',
      'http {',
      '  access_log off;',
      ...spools.map((name) => `  ${name}_temp_path ${folder}/${name};`),
      `  server { listen 127.0.0.1:${port};`,
      `    location / { proxy_pass http://${upstream}/; ${more.join(' ')} }`,
      '  }',
      '}',
    ]
    await writeFile(main, lines.join('\n'))
    return {
      command: ['nginx', '-p', folder, '-c', main, '-e', 'stderr'],
      ready: /start worker process /,
      stopSignal: 'SIGTERM',
    }
  })
  return `http://127.0.0.1:${ports[0]}`
}

describe('clipgate doctor --through nginx, as it is without our site', needs('nginx'), () => {
  it('finds what to change, step by step', async (t) => {
    const { url, admin } = await serveQuickGateway(t)
    const upstream = new URL(url).host
    const problems = async (more: readonly string[], patience: Partial<Patience> = {}) => {
      const proxy = await startNaiveNginx(t, upstream, more)
      const findings = await examineHere({ url: proxy }, { admin, patience })
      const origin = findings.find(({ check }) => check === 'origin')
      return { problems: problemsOf(findings), isOriginKept: origin?.fix === undefined }
    }
    assert.deepEqual(await problems([]), {
      problems: ['paths', 'body-limit', 'hub', 'client-address'],
      isOriginKept: false,
    })
    const fixes = [
      'client_max_body_size 0;',
      'proxy_set_header X-Forwarded-For $remote_addr;',
      'proxy_set_header Host $http_host;',
    ]
    // What is kept until it is complete never gets through without a body.
    assert.deepEqual(await problems(fixes, { refusalMs: 300 }), {
      problems: ['paths', 'upload-buffering', 'hub'],
      isOriginKept: true,
    })
    const most = ['proxy_request_buffering off;', 'proxy_http_version 1.1;', ...fixes]
    assert.deepEqual(await problems(most), { problems: ['paths', 'hub'], isOriginKept: true })
    const all = [
      'proxy_set_header Upgrade $http_upgrade;',
      'proxy_set_header Connection $http_connection;',
      ...most,
    ]
    assert.deepEqual(await problems(all), { problems: ['paths'], isOriginKept: true })
  })
})

/** Where Debian keeps the modules of Apache. */
const APACHE_MODULES = '/usr/lib/apache2/modules'

/** What Debian switches on for every site. */
const DEBIAN_DEFAULTS = [
  'AddOutputFilterByType DEFLATE text/plain',
  'RequestReadTimeout body=10,minrate=500',
]

async function startApache(t: TestContext, site: readonly string[]): Promise<string> {
  const folder = await temporaryFolder(t)
  const main = join(folder, 'apache2.conf')
  const debian = ['mpm_event', 'authz_core', 'filter', 'deflate', 'env', 'reqtimeout']
  const modules = [...debian, 'headers', 'proxy', 'proxy_http']
  const { ports } = await startOnFreePorts(t, 1, async ([port = 0]) => {
    const lines = [
      `ServerRoot ${folder}`,
      'ServerName localhost',
      `PidFile ${folder}/apache2.pid`,
      `DefaultRuntimeDir ${folder}`,
      `Listen 127.0.0.1:${port}`,
      'ErrorLog /proc/self/fd/2',
      'LogLevel notice',
      ...modules.map((name) => `LoadModule ${name}_module ${APACHE_MODULES}/mod_${name}.so`),
      ...DEBIAN_DEFAULTS,
      ...site,
    ]
    await writeFile(main, lines.join('\n'))
    const apache = ['apache2', '-d', folder, '-f', main, '-DFOREGROUND']
    return {
      // The standard error of a child is a socket, which nobody can open as a file.
      command: ['bash', '-c', 'exec "$@" 2> >(cat >&2)', 'bash', ...apache],
      ready: /resuming normal operations/,
      stopSignal: 'SIGTERM',
    }
  })
  return `http://127.0.0.1:${ports[0]}`
}

describe('clipgate doctor --through Apache', needs('apache2'), () => {
  it('finds what its defaults break, and nothing in the site that docs/proxy.md shows', async (t) => {
    const { url, admin, device, phone } = await serveQuickGateway(t)
    const method = 'PUT'
    const typed = { 'content-type': 'text/plain' }
    await phone.fetch('/file/notes.txt', { method, headers: typed, body: 'clipgate'.repeat(1000) })
    await phone.fetch('/Sync.json', { method, body: '{"type":"File","dataName":"notes.txt"}' })
    const examine = async (proxy: string) => {
      const findings = await examineHere({ url: proxy }, { admin })
      for (const { check, fix = '' } of findings) {
        if (check === 'hub' || check === 'paths') assert.match(fix, /^$|Apache/)
      }
      return problemsOf(findings)
    }
    const naive = await startApache(t, [`ProxyPass / ${url}/`])
    assert.deepEqual(await examine(naive), ['paths', 'hub', 'client-address'])
    const shown = await readFile(new URL('../../docs/proxy.md', import.meta.url), 'utf8')
    const [, site = ''] = /```apache\n([^`]+)```/.exec(shown) ?? []
    assert.match(site, /http:\/\/127\.0\.0\.1:42720\//)
    const lines = site.replaceAll('http://127.0.0.1:42720', url).split('\n')
    const proxy = await startApache(t, lines)
    assert.deepEqual(await examine(proxy), [])

    const port = Number(new URL(proxy).port)
    const options = { port, certificate: undefined, version: 'HTTP/1.1' } as const
    const client = createClient(t, { ...options, localAddress: '127.0.0.2' })
    const { headers } = await client.send({
      path: '/file/notes.txt',
      headers: {
        authorization: phone.authorization,
        'accept-encoding': 'gzip',
        connection: 'close, X-Forwarded-For',
      },
    })
    assert.equal(headers['content-encoding'], undefined)
    const seen = (await admin.devices()).find(({ id }) => id === device.id)?.lastSeenAddress
    assert.equal(seen, '127.0.0.2', 'a client cannot have its address left out')
  })
})

describe('clipgate doctor --through, with the shipped sites', () => {
  it('finds nothing wrong with nginx', needs('nginx', 'openssl'), (t) => testSite(t, startNginx))
  it('finds nothing wrong with Caddy', needs('caddy', 'openssl'), (t) => testSite(t, startCaddy))
})
