import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, describe, it, type TestContext } from 'node:test'
import { PNG } from 'pngjs'
import { createControl } from '../../src/control/create-control.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { listOperations, readDescription } from '../docs/support/api-description.ts'
import { allCases } from '../docs/support/all-cases.ts'
import { requestOf } from '../docs/support/case.ts'
import { openStation } from '../docs/support/station.ts'
import { closeBrowser, openPage } from '../panel/support/browser.ts'
import { CaptureLogger } from '../support/capture-logger.ts'
import { createFakeAdmin } from '../support/fake-admin.ts'
import { FakePanel } from '../support/fake-panel.ts'
import { serveGateway } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'
import { RawClient, type RawResponse } from '../support/raw-http.ts'
import { needs } from '../support/requirements.ts'

/** Types that no browser runs anything of, when it may not guess another one. */
const INERT = /^(?:application\/(?:problem\+)?json|text\/plain; charset=utf-8|text\/event-stream)$/

/** Headers that let others in, or lead away. */
const OPENING = /^(?:access-control-|refresh|link|location|set-cookie)/

/** For what says how to trust the authority, which is there to be looked at: no script. */
const LOOKED_AT =
  /^default-src 'none'; frame-ancestors 'none'; base-uri 'none'; style-src 'sha256-[^' ]+'; img-src https:$/

/** Whatever an answer says, a browser may show it to nobody else, and run nothing of it. */
function assertInert(
  { status, headers }: Pick<RawResponse, 'status' | 'headers'>,
  what: string,
): void {
  assert.equal(headers['x-content-type-options'], 'nosniff', what)
  assert.equal(headers['cross-origin-resource-policy'], 'same-origin', what)
  assert.match(headers['cache-control'] ?? '', /^(?:no-store|no-cache, no-transform)$/, what)
  assert.deepEqual(
    Object.keys(headers).filter((name) => OPENING.test(name)),
    // Browsers follow a redirection only: this one is for programs that go on with an upload.
    status === 201 && headers['location'] !== undefined ? ['location'] : [],
    what,
  )
  const type = headers['content-type']
  if (type === undefined || INERT.test(type)) return
  const policy = headers['content-security-policy'] ?? ''
  if (LOOKED_AT.test(policy)) return
  assert.equal(policy, "sandbox; default-src 'none'", what)
  // The list of folders is the same for everybody.
  if (type === 'application/xml; charset=utf-8') return
  assert.match(headers['content-disposition'] ?? '', /^attachment; filename/, what)
}

// The phone page is there to be run: test/gateway/phone-page.test.ts holds what it may do.
const operations = listOperations(readDescription()).filter(({ path }) => path !== '/phone')
// Others than these have requests of their own before them.
const cases = allCases(operations).filter(({ code }) => code !== 'TOO_MANY_REQUESTS')
for (const operation of operations) {
  it(`a browser runs nothing of any answer of the gateway to ${operation.method} ${operation.path}`, async (t) => {
    for (const one of cases.filter((candidate) => candidate.operation === operation.id)) {
      const at = await openStation(t, one.options)
      await one.given?.(at)
      const request = requestOf(one, operation)
      const answer = await (one.exchange?.(at, request) ?? at.ask(request))
      assertInert(answer, `${one.status} ${one.when}`)
    }
  })
}

const PAGE = '<script xmlns="http://www.w3.org/1999/xhtml">alert(document.domain)</script>'

for (const [dataName, type] of [
  ['page.html', 'text/html'],
  ['page.html', 'text/html; charset=utf-7'],
  ['page.xhtml', 'application/xhtml+xml'],
  ['page.xml', 'text/xml'],
  ['page.svg', 'image/svg+xml'],
  ['page.pdf', 'application/pdf'],
  ['page.js', 'text/javascript'],
  ['page.html', 'application/octet-stream'],
  ['page', 'multipart/x-mixed-replace; boundary=a'],
  ['"; filename=page.html', 'text/html'],
] as const) {
  it(`a browser runs nothing of a file that somebody pushed as ${type}, called ${dataName}`, async (t) => {
    const { phone } = await serveGateway(t)
    const path = `/file/${encodeURIComponent(dataName)}`
    await phone.fetch(path, { method: 'PUT', body: PAGE, headers: { 'content-type': type } })
    const document = JSON.stringify({ type: 'File', dataName, hasData: true })
    assert.equal((await phone.fetch('/Sync.json', { method: 'PUT', body: document })).status, 200)
    const { hash, type: kind } = await phone.document()
    for (const target of [path, `/api/history/${kind}-${hash}/data`]) {
      for (const [status, request] of [
        [200, {}],
        [200, { method: 'HEAD' }],
        [206, { headers: { range: 'bytes=0-9' } }],
        [416, { headers: { range: 'bytes=999-' } }],
        [304, { headers: { 'if-none-match': '*' } }],
        [412, { headers: { 'if-match': '"other"' } }],
      ] as const) {
        const response = await phone.fetch(target, request)
        await response.arrayBuffer()
        assert.equal(response.status, status, target)
        const headers = Object.fromEntries(response.headers)
        assertInert({ status, headers }, `${target} ${status}`)
      }
    }
  })
}

describe('a page of another origin, in a browser that has logged in to the gateway', () => {
  after(closeBrowser)

  it('cannot show an image from it', needs('chromium'), async (t) => {
    const { phone, url, device, password } = await serveGateway(t)
    await phone.pushFile('Image', 'a.png', PNG.sync.write(new PNG({ width: 1, height: 1 })))
    const own = `${url}/file/a.png`
    const other = await servePage(t, '<!doctype html><title>other</title>')
    const httpCredentials = { username: device.username, password }
    const { page } = await openPage({ httpCredentials })

    // The browser sends its login there from now on, and the image is one.
    await page.goto(`${url}/api/version`)
    assert.equal(await page.evaluate(showImage(own)), 'load')

    const seen: number[] = []
    page.on('response', (response) => {
      if (response.url() === own) seen.push(response.status())
    })
    await page.goto(other)
    assert.equal(await page.evaluate(showImage(own)), 'error')
    assert.deepEqual(
      seen.filter((status) => status !== 200),
      [],
      'the login was sent',
    )
  })
})

/** A script that tells what becomes of an image in a page. */
function showImage(source: string): string {
  return `new Promise((resolve) => {
    const image = new Image()
    image.onload = () => resolve('load')
    image.onerror = () => resolve('error')
    image.src = ${JSON.stringify(source)}
  })`
}

/** Serves one page, on an origin of its own. */
async function servePage(t: TestContext, page: string): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  })
  return `http://127.0.0.1:${await listen(t, server)}`
}

/** Asks the control listener, byte for byte. */
async function openControl(t: TestContext) {
  const logger = new CaptureLogger()
  const { listener } = createControl({
    admin: await createFakeAdmin(),
    panel: new FakePanel(),
    token: 'token',
    clock: systemClock,
    logger,
  })
  const port = await listen(t, createServer(listener).on('checkContinue', listener))
  return async (line: string, body: string, ...fields: readonly string[]): Promise<RawResponse> => {
    const client = await RawClient.open(t, port)
    const length = `Content-Length: ${body.length}`
    const head = [`${line} HTTP/1.1`, `Host: 127.0.0.1:${port}`, length, ...fields]
    return client.send([...head, '', body].join('\r\n')).read(line.split(' ', 1)[0])
  }
}

const owner = 'Authorization: Bearer token'
const device = '{"kind":"phone","username":"my_phone","label":"<script>alert(1)</script>"}'
for (const [status, line, body, ...fields] of [
  [200, 'GET /health', ''],
  [200, 'HEAD /health', ''],
  [405, 'POST /health', ''],
  [401, 'GET /status', ''],
  [200, 'GET /status', '', owner],
  [200, 'POST /devices', device, owner],
  [404, 'POST /devices/<script>/rotate', '', owner],
  [404, 'DELETE /devices/nobody', '', owner],
  [400, 'POST /devices', '{', owner],
  [413, 'POST /devices', ' '.repeat(70_000), owner],
  [415, 'POST /devices', device, owner, 'Content-Encoding: gzip'],
  [404, 'GET /<script>alert(1)</script>', '', owner],
  [405, 'DELETE /devices', '', owner],
  [403, 'GET /devices', '', owner, 'Origin: http://evil.example'],
  [400, 'GET /devices', '', owner, 'Host: evil.example'],
] as const) {
  it(`a browser runs nothing of any answer of the control listener ${status} to ${line} ${fields.join(' ')}`, async (t) => {
    const ask = await openControl(t)
    const answer = await ask(line, body, ...fields)
    assert.equal(answer.status, status, answer.body)
    assertInert(answer, line)
  })
}

it('a browser runs nothing of any answer of the control listener not even of its list of devices', async (t) => {
  const ask = await openControl(t)
  assert.equal((await ask('POST /devices', device, owner)).status, 200)
  const rotated = await ask('POST /devices/my_phone/rotate', '', owner)
  const listed = await ask('GET /devices', '', owner)
  const revoked = await ask('DELETE /devices/my_phone', '', owner)
  for (const answer of [rotated, listed, revoked]) {
    assert.equal(answer.status, 200)
    assertInert(answer, answer.body)
  }
})
