import assert from 'node:assert/strict'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { createGzip } from 'node:zlib'
import type { Patience } from '../../src/doctor/through/visit.ts'
import { examineHere, problemsOf, show } from './support/examine-site.ts'
import { serveQuickGateway } from './support/quick-gateway.ts'
import { startStandIn, type Fault } from './support/stand-in.ts'

type Row = readonly [
  name: string,
  /** The check that finds it; no other one does. */
  check: string,
  fix: RegExp,
  fault: Fault,
  /** For what never comes. */
  patience?: Partial<Patience>,
]

const HTML = '<html><body><h1>Sorry</h1></body></html>'

const OWN_LOGIN = { 'WWW-Authenticate': 'Basic realm="proxy"' }
const ELSEWHERE = { Location: 'https://clip.example/?secret=1' }

const ROWS: readonly Row[] = [
  [
    'takes Authorization away',
    'authorization',
    /pass Authorization on/,
    { changeRequest: (headers) => without(headers, 'authorization') },
  ],
  [
    'takes WWW-Authenticate away',
    'challenge',
    /pass that header on/,
    { answer: sendChanged((headers) => without(headers, 'www-authenticate')) },
  ],
  [
    'asks for a login of its own, but for probes',
    'challenge',
    /auth_basic/,
    page(401, { headers: OWN_LOGIN, at: (url) => url !== '/healthz' }),
  ],
  [
    'asks for a login of its own, everywhere',
    'health',
    /take the login/,
    page(401, { headers: OWN_LOGIN }),
  ],
  [
    'serves those who have no login',
    'challenge',
    /off the network/,
    json('/api/version', '"clipgate 1.0.0"'),
  ],
  ['gives an answer to whoever asks next', 'answer-cache', /caching/, keepAnswers()],
  ['keeps refusals of wrong logins', 'answer-cache', /caching/, keepRefusals()],
  ['caches probes', 'health-cache', /proxy_cache off/, keepProbes({ Age: '7' })],
  [
    'caches probes, and says so in its own way',
    'health-cache',
    /proxy_cache off/,
    keepProbes({ 'X-Cache': 'HIT from proxy' }),
  ],
  ['caches probes, and does not say so', 'health-cache', /proxy_cache off/, keepProbes({})],
  [
    'lets others cache probes',
    'health-cache',
    /Cache-Control/,
    { answer: sendChanged((headers) => without(headers, 'cache-control')) },
  ],
  ['leads to nobody', 'health', /clipgate status/, page(502)],
  ['leads to another site', 'health', /passes all paths/, page(200)],
  ['answers probes with a body', 'health', /changes no answers/, page(200, { at: '/healthz' })],
  ['redirects', 'health', /use the address that it leads to/, page(301, { headers: ELSEWHERE })],
  ['never answers', 'health', /log of the proxy/, { intercept: () => true }, { answerMs: 300 }],
  ['hangs up', 'health', /log of the proxy/, { intercept: hangUp }],
  [
    'puts its own pages in place of errors',
    'errors',
    /proxy_intercept_errors/,
    {
      answer: ({ statusCode = 0, headers }, response) => {
        if (statusCode < 400) return false
        const { 'www-authenticate': challenge } = headers
        return sendPage(response, statusCode, challenge && { 'WWW-Authenticate': challenge })
      },
    },
  ],
  [
    'decodes paths',
    'paths',
    /AllowEncodedSlashes/,
    { changePath: (path) => path.replaceAll('%2F', '/') },
  ],
  [
    'tidies paths up',
    'paths',
    /proxy_pass/,
    { changePath: (path) => new URL(`http://h${path.replaceAll('//', '/')}`).href.slice(8) },
  ],
  ['compresses answers', 'compression', /gzip off/, { answer: compress('application/json') }],
  [
    'weakens tags',
    'compression',
    /no sub_filter/,
    {
      answer: sendChanged((headers) =>
        headers.etag === undefined ? headers : { ...headers, etag: `W/${headers.etag}` },
      ),
    },
  ],
  [
    'takes Range away',
    'range',
    /pass Range on/,
    { changeRequest: (headers) => without(headers, 'range') },
  ],
  [
    'limits bodies that say how long they are',
    'body-limit',
    /client_max_body_size 0/,
    {
      intercept: (request, response) =>
        Number(request.headers['content-length'] ?? 0) > 1024 ** 2 && sendPage(response, 413),
    },
  ],
  [
    'limits bodies that come in chunks',
    'body-limit',
    /client_max_body_size 0/,
    {
      intercept: (request, response) => {
        if (!isDocumentInChunks(request)) return false
        let size = 0
        request.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > 1024 ** 2 && !response.headersSent) sendPage(response, 413)
        })
        return true
      },
    },
  ],
  [
    'hangs up on long bodies',
    'body-limit',
    /LimitRequestBody/,
    { intercept: (request) => isDocumentInChunks(request) && hangUp(request) },
  ],
  [
    'keeps uploads until they are complete',
    'upload-buffering',
    /proxy_request_buffering off/,
    { isKeepingRequests: true },
    { refusalMs: 300 },
  ],
  [
    'takes Upgrade away',
    'hub',
    /pass Upgrade on/,
    { changeRequest: (headers) => without(headers, 'upgrade') },
  ],
  [
    'knows no WebSockets',
    'hub',
    /pass Upgrade on/,
    {
      intercept: ({ headers }, response) =>
        headers.upgrade !== undefined && sendPage(response, 400),
    },
  ],
  [
    'holds events back',
    'events',
    /proxy_buffering off/,
    changeStream((answer, response) => {
      const kept: Buffer[] = []
      answer.on('data', (chunk: Buffer) => kept.push(chunk))
      answer.on('end', () => response.end(Buffer.concat(kept)))
    }),
    { helloMs: 300 },
  ],
  [
    'holds even the header of a stream back',
    'events',
    /proxy_buffering off/,
    { answer: (answer) => isStream(answer) && answer.resume() !== undefined },
    { helloMs: 300 },
  ],
  [
    'lets the first event through, and no other one',
    'events',
    /proxy_buffering off/,
    changeStream((answer, response) => answer.once('data', (chunk) => response.write(chunk))),
    { pingMs: 300 },
  ],
  [
    'cuts streams',
    'events',
    /proxy_read_timeout/,
    changeStream((answer, response) => answer.once('data', (chunk) => response.end(chunk))),
  ],
  ['compresses streams', 'events', /compression off/, { answer: compress('text/event-stream') }],
  ['has no streams', 'events', /like every other path/, page(403, { at: '/api/sse/clipboard' })],
  [
    'lives in another time',
    'server-clock',
    /set-ntp/,
    json('/api/time', '"2020-01-01T00:00:00.000Z"'),
  ],
  ['believes what clients say of themselves', 'client-address', /\$remote_addr/, {}],
]

/** Replaces what clients claim, as every proxy should that does not do just this wrong. */
function withAddress(fault: Fault, address: string): Fault {
  const change = fault.changeRequest ?? ((headers): OutgoingHttpHeaders => headers)
  return {
    ...fault,
    changeRequest: (headers) => ({ ...change(headers), 'x-forwarded-for': address }),
  }
}

let addresses = 0

/** Each case has a client of its own: the gateway slows down addresses that fail to log in. */
function nextAddress(): string {
  addresses += 1
  return `127.0.${addresses}.1`
}

async function testRow(
  t: TestContext,
  { url, admin }: Pick<Awaited<ReturnType<typeof serveQuickGateway>>, 'url' | 'admin'>,
  [, check, fix, fault, patience = {}]: Row,
): Promise<void> {
  const proxy = await startStandIn(t, {
    upstream: url,
    fault: check === 'client-address' ? fault : withAddress(fault, nextAddress()),
  })
  const findings = await examineHere({ url: proxy.url }, { admin, patience })
  assert.deepEqual(problemsOf(findings), [check], show(findings))
  assert.match(findings.find(({ ok }) => !ok)?.fix ?? '', fix)

  const told = JSON.stringify(findings)
  const names = (await admin.devices()).map(({ username }) => username)
  for (const login of proxy.logins) {
    const encoded = login.slice('Basic '.length)
    const [username = '', password = ''] = Buffer.from(encoded, 'base64').toString().split(':')
    for (const secret of [encoded, username, password]) {
      assert.equal(told.includes(secret), false, 'a login was told')
    }
    assert.equal(names.includes(username), false, 'it is gone')
  }
  assert.doesNotMatch(told, /secret=1/)
}

describe('clipgate doctor --through', () => {
  it('finds what a proxy does wrong, and nothing else', { concurrency: 8 }, async (t) => {
    const gateway = await serveQuickGateway(t)
    const { admin, phone } = gateway
    await phone.pushFile('File', 'photo.txt', Buffer.from('hello'))
    const before = await phone.document()

    await Promise.all(
      ROWS.map((row) => t.test(`a proxy that ${row[0]}`, (test) => testRow(test, gateway, row))),
    )
    await t.test('a proxy that does nothing wrong', async (test) => {
      const fault = withAddress({}, nextAddress())
      const proxy = await startStandIn(test, { upstream: gateway.url, fault })
      const findings = await examineHere({ url: proxy.url }, { admin })
      assert.deepEqual(problemsOf(findings), [], show(findings))
    })
    assert.deepEqual(await phone.document(), before, 'the clipboard is as it was')
    assert.equal((await admin.devices()).length, 1)
  })
})

function without(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  name: string,
): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([field]) => field !== name))
}

function isDocumentInChunks({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined
}

function isStream({ headers }: IncomingMessage): boolean {
  return headers['content-type'] === 'text/event-stream'
}

function hangUp(request: IncomingMessage): true {
  request.socket.destroy()
  return true
}

function sendPage(
  response: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders | undefined | '' = {},
): true {
  response.writeHead(status, { 'Content-Type': 'text/html', Server: 'nginx', ...(headers || {}) })
  response.end(HTML)
  return true
}

interface PageOptions {
  readonly headers?: OutgoingHttpHeaders
  /** Where it stands; everywhere unless given. */
  readonly at?: string | ((url: string) => boolean)
}

/** Answers with a page of its own. */
function page(status: number, { headers = {}, at = () => true }: PageOptions = {}): Fault {
  const isHere = typeof at === 'string' ? (url: string) => url === at : at
  return {
    intercept: ({ url = '' }, response) => isHere(url) && sendPage(response, status, headers),
  }
}

function sendJson(response: ServerResponse, body: string): true {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(body)
  return true
}

function json(url: string, body: string): Fault {
  return { intercept: (request, response) => request.url === url && sendJson(response, body) }
}

/** Sends the header of an event stream on, and leaves the rest of it to `send`. */
function changeStream(send: (answer: IncomingMessage, response: ServerResponse) => unknown): Fault {
  return {
    answer: (answer, response) => {
      if (!isStream(answer)) return false
      response.writeHead(200, answer.headers)
      response.flushHeaders()
      send(answer, response)
      return true
    },
  }
}

function sendChanged(
  change: (headers: IncomingMessage['headers']) => OutgoingHttpHeaders,
): NonNullable<Fault['answer']> {
  return (answer, response) => {
    response.writeHead(answer.statusCode ?? 502, change(answer.headers))
    response.flushHeaders()
    answer.pipe(response)
    return true
  }
}

function compress(type: string): NonNullable<Fault['answer']> {
  return (answer, response, request) => {
    if (!/gzip/.test(request.headers['accept-encoding'] ?? '')) return false
    if (answer.headers['content-type'] !== type || answer.statusCode !== 200) return false
    const headers = without(answer.headers, 'content-length')
    response.writeHead(200, { ...headers, 'content-encoding': 'gzip' })
    response.flushHeaders()
    answer.pipe(createGzip()).pipe(response)
    return true
  }
}

/** Answers `/api/version` by what a login got first. */
function keepAnswers(): Fault {
  let isKept = false
  return {
    intercept: (request, response) =>
      isKept && request.url === '/api/version' && sendJson(response, '"clipgate 1.0.0"'),
    answer: ({ statusCode }, _response, { url, headers }) => {
      isKept ||= url === '/api/version' && headers.authorization !== undefined && statusCode === 200
      return false
    },
  }
}

/** After one wrong login, nobody gets in. */
function keepRefusals(): Fault {
  let isRefused = false
  const headers = { 'WWW-Authenticate': 'Basic realm="clipgate"' }
  return {
    intercept: (request, response) =>
      isRefused && request.url === '/api/version' && sendPage(response, 401, headers),
    answer: (answer, _response, request) => {
      isRefused ||= answer.statusCode === 401 && request.headers.authorization !== undefined
      return false
    },
  }
}

/** Answers probes by the first one. */
function keepProbes(marks: OutgoingHttpHeaders): Fault {
  let kept: OutgoingHttpHeaders | undefined
  return {
    intercept: (request, response) => {
      if (request.url !== '/healthz' || kept === undefined) return false
      response.writeHead(204, { ...kept, ...marks }).end()
      return true
    },
    answer: (answer, _response, request) => {
      if (request.url === '/healthz') kept ??= answer.headers
      return false
    },
  }
}
