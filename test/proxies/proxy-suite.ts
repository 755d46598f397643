/**
 * What every proxy of `deploy/` must let through, for each version of HTTP that clients speak.
 * @module
 */

import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { text } from 'node:stream/consumers'
import { nameOf, openStream, testEvents } from './events.ts'
import { testHub } from './hub.ts'
import { NAME, SAMPLES, type Sample } from './requests.ts'
import { HTTP_VERSIONS, type Client, type HttpVersion } from './support/https-client.ts'
import { startProxiedDaemon, type ProxiedDaemon } from './support/proxied-daemon.ts'
import type { StartProxy } from './support/proxy-process.ts'
import {
  testLargeFiles,
  testLargeForm,
  testRefusedUploads,
  testResumableUploads,
  testUploadsThatWait,
} from './uploads.ts'

/** Fields that each hop has of its own. */
const HOP_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'date',
  'keep-alive',
  'server',
  'upgrade',
])

/** Registers the tests. */
export function proxySuite(start: StartProxy): void {
  it('passes on what clients and the gateway say to each other', async (t) => {
    const site = await startProxiedDaemon(t, start)
    for (const version of HTTP_VERSIONS) {
      await t.test(`${version}: answers are those of the gateway`, (test) =>
        testAnswers(test, site, version),
      )
      await t.test(`${version}: a client is not believed where it comes from`, (test) =>
        testAddress(test, site, version),
      )
      await t.test(`${version}: events arrive at once, until the device is revoked`, (test) =>
        testEvents(test, site, version),
      )
      await t.test(`${version}: an upload waits for leave`, (test) =>
        testUploadsThatWait(test, site, version),
      )
      await t.test(`${version}: an upload goes on where it was`, (test) =>
        testResumableUploads(test, site, version),
      )
    }
    await t.test('the message hub tells of changes at once, until the device is revoked', (test) =>
      testHub(test, site),
    )
    await t.test('a large file passes as it comes, both ways', (test) => testLargeFiles(test, site))
    await t.test('a large form passes as it comes', (test) => testLargeForm(test, site))
    await t.test('no credentials are logged', () => testLogs(site))
  })

  it('shows why an upload is refused, to a client that does not wait', async (t) => {
    const site = await startProxiedDaemon(t, start, '--max-file-bytes', '1MiB')
    for (const version of HTTP_VERSIONS) {
      await t.test(version, (test) => testRefusedUploads(test, site, version))
    }
  })

  it('ends event streams with the daemon, and does not say that it lives', async (t) => {
    const site = await startProxiedDaemon(t, start)
    const clients = HTTP_VERSIONS.map((version) => site.through(t, version))
    const streams = await Promise.all(
      clients.map((client) => openStream(client, site.phone.authorization)),
    )
    for (const stream of streams) assert.equal(nameOf(await stream.next()), 'hello')
    const statuses = () =>
      Promise.all(clients.map(async (client) => (await client.send({ path: '/healthz' })).status))
    assert.deepEqual(await statuses(), [204, 204])
    assert.equal(await site.daemon.stop(), 0)
    for (const stream of streams) assert.equal(await stream.next(), undefined)
    assert.deepEqual(await statuses(), [502, 502])
    testLogs(site)
  })
}

async function testAnswers(
  t: TestContext,
  site: ProxiedDaemon,
  version: HttpVersion,
): Promise<void> {
  await site.phone.pushFile('File', NAME, Buffer.alloc(10_000, 'clipgate'))
  const [direct, proxied] = [site.direct(t), site.through(t, version)]
  for (const sample of SAMPLES) {
    const name = JSON.stringify(sample)
    const expected = await ask(direct, site, sample)
    assert.equal(expected.status, sample.status, name)
    assert.deepEqual(await ask(proxied, site, sample), expected, name)
  }
}

async function ask(client: Client, { phone }: ProxiedDaemon, { login, ...sample }: Sample) {
  const wrong = `${phone.authorization.slice(0, -4)}AAA=`
  const authorization = login === 'wrong' ? wrong : phone.authorization
  const headers = { ...sample.headers, ...(login === 'none' ? {} : { authorization }) }
  const answer = await client.send({ ...sample, headers })
  const fields = Object.entries(answer.headers).filter(([field]) => !HOP_FIELDS.has(field))
  return {
    status: answer.status,
    headers: Object.fromEntries(fields),
    body: await text(answer.body),
  }
}

async function testAddress(
  t: TestContext,
  site: ProxiedDaemon,
  version: HttpVersion,
): Promise<void> {
  const headers = {
    authorization: site.phone.authorization,
    'x-forwarded-for': '203.0.113.7',
    'x-real-ip': '203.0.113.7',
    forwarded: 'for=203.0.113.7',
  }
  // The second one is an address that the daemon believes; the proxy must not.
  for (const localAddress of ['127.0.0.2', '127.0.0.1']) {
    const client = site.through(t, version, localAddress)
    assert.equal((await client.send({ path: '/', headers })).status, 200)
    const { stdout } = await site.daemon.run('devices', '--json')
    const devices: readonly Record<string, unknown>[] = JSON.parse(stdout)
    const listed = devices.find(({ id }) => id === site.device.id)
    assert.equal(listed?.['lastSeenAddress'], localAddress)
  }
}

function testLogs({ proxy, device, phone }: ProxiedDaemon): void {
  for (const secret of [device.password, phone.authorization.slice('Basic '.length)]) {
    assert.equal(proxy.logs().includes(secret), false)
  }
}
