import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { DeviceStreams } from '../../src/gateway/device-streams.ts'
import { deviceRoutes } from '../../src/gateway/routes.ts'
import type { Route } from '../../src/http/call.ts'
import type { Device } from '../../src/ports/device-registry.ts'
import { serveGateway } from '../support/gateway.ts'
import { RawClient } from '../support/raw-http.ts'
import { authorizationOf, connectTo, formatHead, formatRequest } from './support/raw-device.ts'
import { startPaired, take } from './support/subject.ts'
import { needsProc, rememberVitals } from './support/vitals.ts'

const GIB = 2 ** 30

/** Status lines of all answers on a connection. */
function statuses(answers: string): readonly number[] {
  return [...answers.matchAll(/(?<!<status>)HTTP\/1\.1 (\d{3}) /g)].map(([, status]) =>
    Number(status),
  )
}

/** A daemon with an item, and a valid push of another one, to be hidden in other requests. */
async function startHiding(t: TestContext) {
  const { daemon, device, phone } = await startPaired(t)
  await phone.pushText('before')
  const document = '{"type":"Text","text":"smuggled"}'
  return {
    daemon,
    device,
    phone,
    login: authorizationOf(device),
    push: formatRequest('PUT /Sync.json', device, document),
    /** Sends bytes on a connection of their own, and reads until the daemon has hung up. */
    ask: async (bytes: string): Promise<string> => {
      const client = await connectTo(daemon)
      return client.send(bytes).readToEnd()
    },
  }
}

describe('what follows on a malformed request', needsProc, () => {
  it('is never served, wherever it is malformed', async (t) => {
    const { daemon, phone, login, push, ask } = await startHiding(t)
    const [line = ''] = push.split('\r\n')
    for (const [from, to] of [
      [line, 'PUT /Sync.json'],
      [line, 'PUT /Sync.json HTTP/2.0'],
      [line, 'PUT /Sync.json HTTP/1.2'],
      [line, 'PUT /Sync.json HTTP/0.9'],
      [line, 'PUT /Sync.json HTTP/1.1 x'],
      [line, 'PUT\t/Sync.json HTTP/1.1'],
      [line, 'PUT /Sync\0.json HTTP/1.1'],
      [line, 'PUT /Sync.json#a HTTP/1.1'],
      [line, 'PUT http://user@box/Sync.json HTTP/1.1'],
      [line, ' PUT /Sync.json HTTP/1.1'],
      ['Host: clipgate.example\r\n', ''],
      ['Host: clipgate.example', 'Host: clipgate.example\r\nHost: clipgate.example'],
      ['Host: clipgate.example', 'Host: clipgate.example, other'],
      ['Host: clipgate.example', 'Host: clipgate.example/Sync.json'],
      [login, `${login}${login}`],
      [login, `${login}Expect: 200-ok\r\n`],
      [login, `${login}Content-Encoding: gzip\r\n`],
      [login, `${login}Upgrade: h2c\r\nConnection: Upgrade\r\nTransfer-Encoding: gzip\r\n`],
    ] as const) {
      const bytes = push.replace(from, to)
      assert.notEqual(bytes, push)
      const [status = 0, ...others] = statuses(await ask(bytes + push))
      assert.ok(status >= 400 && status !== 500, `${status} to ${JSON.stringify(to)}`)
      assert.deepEqual(others, [], JSON.stringify(to))
      assert.equal((await phone.document())['text'], 'before', JSON.stringify(to))
    }
    assert.equal(daemon.stderr(), '')
  })
})

describe('a body', needsProc, () => {
  // Protocol: A request that is refused writes nothing to disk
  it('of a refused request, or of one that takes none, is never served', async (t) => {
    const { daemon, phone, device, push, ask } = await startHiding(t)
    const length = `Content-Length: ${push.length}\r\n`
    const stranger = `PUT /file/a HTTP/1.1\r\nHost: box\r\n${length}\r\n`
    for (const [head, expected] of [
      [stranger, 401],
      [formatHead('PUT /nowhere', device, length), 404],
      [formatHead('POST /Sync.json', device, length), 405],
      [formatHead('PUT /file/..', device, length), 400],
      [formatHead('PUT /file/a', device, `${length}Content-Encoding: gzip\r\n`), 415],
      [formatHead('PUT /file/a', device, `${length}Origin: http://evil.example\r\n`), 403],
      [formatHead('GET /Sync.json', device, length), 200],
      [formatHead('GET /healthz', device, length), 204],
      [formatHead('OPTIONS /', device, length), 204],
      [formatHead('DELETE /file', device, length), 200],
      [formatHead('DELETE /api/history/clear', device, length), 200],
      [formatHead('PROPFIND /', device, length), 207],
    ] as const) {
      assert.deepEqual(statuses(await ask(head + push)), [expected], head)
      assert.equal((await phone.document())['text'], 'before', head)
    }
    assert.equal(daemon.stderr(), '')
  })

  it('that is longer than it says is as long as it says, and ends its connection', async (t) => {
    const { device, phone, ask } = await startHiding(t)
    const head = formatHead('PUT /file/a', device, 'Content-Length: 5\r\n')
    assert.deepEqual(statuses(await ask(`${head}hello world`)), [200])
    assert.equal(await take(phone, 'a'), 'hello')
  })

  it('with trailers that never end leaves nothing', async (t) => {
    const { daemon, device, ask } = await startHiding(t)
    const { vitals, before } = rememberVitals(t, daemon)
    const start = formatHead('PUT /file/a', device, 'Transfer-Encoding: chunked\r\n')
    const answers = await ask(`${start}5\r\nhello\r\n0\r\n${'X-A: b\r\n'.repeat(10_000)}`)
    assert.deepEqual(statuses(answers), [431])
    await vitals.settled(before)
  })

  it('of 1 GiB that never comes is not waited for, and holds nothing', async (t) => {
    const { daemon, device, phone } = await startHiding(t)
    await phone.document()
    const { vitals, before, hasGrownBy } = rememberVitals(t, daemon)
    const length = `Content-Length: ${GIB}\r\n`
    const clients: RawClient[] = []
    for (let index = 0; index < 50; index++) {
      const client = await connectTo(daemon)
      clients.push(client)
      client.send(formatHead('GET /Sync.json', device, length))
      const { status, headers } = await client.read()
      assert.deepEqual([status, headers['connection']], [200, 'close'])
    }
    // It is the daemon who ends them.
    for (const client of clients) assert.equal(await client.readToEnd(), '')
    await vitals.settled(before)
    hasGrownBy(32)
  })
})

const limits = { maxFileBytes: 1000, maxMetadataBytes: 1000 }

async function serveRoutes(t: TestContext) {
  const at = await serveGateway(t, limits)
  const rows: readonly Route<Device>[] = deviceRoutes(at, new DeviceStreams(at), {
    version: '',
    ...limits,
  })
  const ask = async ({ method, pattern }: Route<Device>, ...fields: readonly string[]) => {
    const client = await RawClient.open(t, at.port)
    const path = pattern.replaceAll(/\{[^}]+\}/g, 'Text-0')
    const lines = [`${method} ${path} HTTP/1.1`, 'Host: box', `Authorization: ${at.authorization}`]
    return client.send([...lines, ...fields, '', ''].join('\r\n')).read(method)
  }
  return { ...at, rows, ask }
}

const EXPECT = 'Expect: 100-continue'

it('every route that takes a body refuses one that is too long before a byte of it', async (t) => {
  const { rows, ask, countWaiting, countBlobs } = await serveRoutes(t)
  const taking = rows.filter(({ maxBody }) => maxBody > 0)
  assert.ok(taking.length >= 7, `${taking.length}`)
  for (const row of taking) {
    // Some judge the size by themselves.
    const most = Math.min(row.maxBody, limits.maxFileBytes + limits.maxMetadataBytes)
    const status = row.pattern === '/file-uploads/{token}' ? 404 : 413
    for (const expect of [[], [EXPECT]]) {
      const answer = await ask(row, `Content-Length: ${most + 1}`, ...expect)
      assert.equal(answer.status, status, `${row.method} ${row.pattern}`)
      assert.equal(answer.headers['connection'], 'close')
    }
  }
  assert.deepEqual([countWaiting(), await countBlobs()], [0, 0])
})

it('every route that takes none answers at once, whatever is announced', async (t) => {
  const { rows, ask } = await serveRoutes(t)
  for (const row of rows.filter(({ maxBody }) => maxBody === 0)) {
    // Its answer has no end; `at once` is what a stream does.
    if (row.pattern === '/api/sse/clipboard') continue
    for (const length of [`Content-Length: ${GIB}`, 'Transfer-Encoding: chunked']) {
      const answer = await ask(row, length, EXPECT)
      assert.ok(
        [200, 201, 204, 207, 404, 426].includes(answer.status),
        `${row.method} ${row.pattern}`,
      )
      assert.equal(answer.headers['connection'], 'close')
    }
  }
})

it('every route refuses compressed bodies, and never unpacks one', async (t) => {
  const { rows, ask, countWaiting, countBlobs } = await serveRoutes(t)
  const codings = ['gzip', 'GZip', 'x-gzip', 'deflate', 'br', 'zstd', 'identity, gzip', '']
  for (const row of rows) {
    if (row.method === 'OPTIONS') continue
    for (const coding of codings) {
      const answer = await ask(row, 'Content-Length: 9', `Content-Encoding: ${coding}`, EXPECT)
      assert.equal(answer.status, 415, `${row.method} ${row.pattern} ${coding}`)
    }
  }
  assert.deepEqual([countWaiting(), await countBlobs()], [0, 0])
})
