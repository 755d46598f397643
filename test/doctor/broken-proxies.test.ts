import assert from 'node:assert/strict'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { createGzip } from 'node:zlib'
import type { Patience } from '../../src/doctor/through/visit.ts'
import { examineHere, problemsOf, show } from './support/examine-site.ts'
import { serveQuickGateway } from './support/quick-gateway.ts'
import { startStandIn, type Fault } from './support/stand-in.ts'

interface Case {
  readonly fault: Fault
  /** The check that finds it; no other one does. */
  readonly check: string
  readonly fix: RegExp
  /** For what never comes. */
  readonly patience?: Partial<Patience>
}

const HTML = '<html><body><h1>Sorry</h1></body></html>'

const CASES: Readonly<Record<string, Case>> = {
  'takes Authorization away': {
    fault: { changeRequest: (headers) => without(headers, 'authorization') },
    check: 'authorization',
    fix: /pass Authorization on/,
  },
  'takes WWW-Authenticate away': {
    fault: { answer: sendChanged((headers) => without(headers, 'www-authenticate')) },
    check: 'challenge',
    fix: /pass that header on/,
  },
  'asks for a login of its own, but for probes': {
    fault: {
      intercept: (request, response) =>
        request.url !== '/healthz' &&
        sendPage(response, 401, { 'WWW-Authenticate': 'Basic realm="proxy"' }),
    },
    check: 'challenge',
    fix: /auth_basic/,
  },
  'asks for a login of its own, everywhere': {
    fault: {
      intercept: (_request, response) =>
        sendPage(response, 401, { 'WWW-Authenticate': 'Basic realm="proxy"' }),
    },
    check: 'health',
    fix: /take the login/,
  },
  'serves those who have no login': {
    fault: {
      intercept: (request, response) =>
        request.url === '/api/version' && sendJson(response, '"clipgate 1.0.0"'),
    },
    check: 'challenge',
    fix: /off the network/,
  },
  'gives an answer to whoever asks next': {
    fault: keepAnswers((request) => request.headers.authorization !== undefined),
    check: 'answer-cache',
    fix: /caching/,
  },
  'keeps refusals of wrong logins': {
    fault: keepRefusals(),
    check: 'answer-cache',
    fix: /caching/,
  },
  'caches probes': {
    fault: keepProbes({ Age: '7' }),
    check: 'health-cache',
    fix: /proxy_cache off/,
  },
  'caches probes, and says so in its own way': {
    fault: keepProbes({ 'X-Cache': 'HIT from proxy' }),
    check: 'health-cache',
    fix: /proxy_cache off/,
  },
  'caches probes, and does not say so': {
    fault: keepProbes({}),
    check: 'health-cache',
    fix: /proxy_cache off/,
  },
  'lets others cache probes': {
    fault: { answer: sendChanged((headers) => without(headers, 'cache-control')) },
    check: 'health-cache',
    fix: /Cache-Control/,
  },
  'leads to nobody': {
    fault: { intercept: (_request, response) => sendPage(response, 502) },
    check: 'health',
    fix: /clipgate status/,
  },
  'leads to another site': {
    fault: { intercept: (_request, response) => sendPage(response, 200) },
    check: 'health',
    fix: /passes all paths/,
  },
  'answers probes with a body': {
    fault: {
      intercept: (request, response) => request.url === '/healthz' && sendPage(response, 200),
    },
    check: 'health',
    fix: /changes no answers/,
  },
  redirects: {
    fault: {
      intercept: (_request, response) =>
        sendPage(response, 301, { Location: 'https://clip.example/?secret=1' }),
    },
    check: 'health',
    fix: /use the address that it leads to/,
  },
  'never answers': {
    fault: { intercept: () => true },
    check: 'health',
    fix: /log of the proxy/,
    patience: { answerMs: 300 },
  },
  'hangs up': {
    fault: { intercept: (request) => request.socket.destroy() !== undefined },
    check: 'health',
    fix: /log of the proxy/,
  },
  'puts its own pages in place of errors': {
    fault: {
      answer: (answer, response) => {
        const { statusCode = 0, headers } = answer
        if (statusCode < 400) return false
        const challenge = headers['www-authenticate']
        return sendPage(response, statusCode, challenge && { 'WWW-Authenticate': challenge })
      },
    },
    check: 'errors',
    fix: /proxy_intercept_errors/,
  },
  'decodes paths': {
    fault: { changePath: (path) => path.replaceAll('%2F', '/') },
    check: 'paths',
    fix: /AllowEncodedSlashes/,
  },
  'tidies paths up': {
    fault: { changePath: (path) => new URL(`http://h${path.replaceAll('//', '/')}`).pathname },
    check: 'paths',
    fix: /proxy_pass/,
  },
  'compresses answers': {
    fault: { answer: compress((type) => type === 'application/json') },
    check: 'compression',
    fix: /gzip off/,
  },
  'weakens tags': {
    fault: {
      answer: sendChanged((headers) =>
        headers.etag === undefined ? headers : { ...headers, etag: `W/${headers.etag}` },
      ),
    },
    check: 'compression',
    fix: /no sub_filter/,
  },
  'takes Range away': {
    fault: { changeRequest: (headers) => without(headers, 'range') },
    check: 'range',
    fix: /pass Range on/,
  },
  'limits bodies that say how long they are': {
    fault: {
      intercept: (request, response) =>
        Number(request.headers['content-length'] ?? 0) > 1024 ** 2 && sendPage(response, 413),
    },
    check: 'body-limit',
    fix: /client_max_body_size 0/,
  },
  'limits bodies that come in chunks': {
    fault: {
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
    check: 'body-limit',
    fix: /client_max_body_size 0/,
  },
  'hangs up on long bodies': {
    fault: {
      intercept: (request) => {
        if (!isDocumentInChunks(request)) return false
        request.socket.destroy()
        return true
      },
    },
    check: 'body-limit',
    fix: /LimitRequestBody/,
  },
  'keeps uploads until they are complete': {
    fault: { isKeepingRequests: true },
    check: 'upload-buffering',
    fix: /proxy_request_buffering off/,
    patience: { refusalMs: 300 },
  },
  'holds events back': {
    fault: {
      answer: (answer, response) => {
        if (!isStream(answer)) return false
        response.writeHead(200, answer.headers)
        response.flushHeaders()
        const kept: Buffer[] = []
        answer.on('data', (chunk: Buffer) => kept.push(chunk))
        answer.on('end', () => response.end(Buffer.concat(kept)))
        return true
      },
    },
    check: 'events',
    fix: /proxy_buffering off/,
    patience: { helloMs: 300 },
  },
  'holds even the header of a stream back': {
    fault: { answer: (answer) => isStream(answer) && answer.resume() !== undefined },
    check: 'events',
    fix: /proxy_buffering off/,
    patience: { helloMs: 300 },
  },
  'lets the first event through, and no other one': {
    fault: {
      answer: (answer, response) => {
        if (!isStream(answer)) return false
        response.writeHead(200, answer.headers)
        answer.once('data', (chunk: Buffer) => response.write(chunk))
        return true
      },
    },
    check: 'events',
    fix: /proxy_buffering off/,
    patience: { pingMs: 300 },
  },
  'cuts streams': {
    fault: {
      answer: (answer, response) => {
        if (!isStream(answer)) return false
        response.writeHead(200, answer.headers)
        answer.once('data', (chunk: Buffer) => response.end(chunk))
        return true
      },
    },
    check: 'events',
    fix: /proxy_read_timeout/,
  },
  'compresses streams': {
    fault: { answer: compress((type) => type === 'text/event-stream') },
    check: 'events',
    fix: /compression off/,
  },
  'has no streams': {
    fault: {
      intercept: (request, response) =>
        request.url === '/api/sse/clipboard' && sendPage(response, 403),
    },
    check: 'events',
    fix: /like every other path/,
  },
  'lives in another time': {
    fault: {
      intercept: (request, response) =>
        request.url === '/api/time' && sendJson(response, '"2020-01-01T00:00:00.000Z"'),
    },
    check: 'server-clock',
    fix: /set-ntp/,
  },
  'believes what clients say of themselves': {
    fault: {},
    check: 'client-address',
    fix: /\$remote_addr/,
  },
}

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

async function testCase(
  t: TestContext,
  gateway: Pick<Awaited<ReturnType<typeof serveQuickGateway>>, 'url' | 'admin'>,
  { fault, check, fix, patience }: Case,
): Promise<void> {
  const { admin } = gateway
  const proxy = await startStandIn(t, {
    upstream: gateway.url,
    fault: check === 'client-address' ? fault : withAddress(fault, nextAddress()),
  })
  const findings = await examineHere(
    { url: proxy.url, credentials: undefined },
    { admin, ...(patience === undefined ? {} : { patience }) },
  )
  assert.deepEqual(problemsOf(findings), [check], show(findings))
  const found = findings.find(({ ok }) => !ok)
  assert.match(found?.fix ?? '', fix)

  const told = JSON.stringify(findings)
  for (const login of proxy.logins) {
    const encoded = login.slice('Basic '.length)
    const [username = '', password = ''] = Buffer.from(encoded, 'base64').toString().split(':')
    for (const secret of [encoded, username, password]) {
      assert.equal(told.includes(secret), false, 'a login was told')
    }
    const devices = await admin.devices()
    assert.equal(
      devices.some((device) => device.username === username),
      false,
      'it is gone',
    )
  }
  assert.doesNotMatch(told, /secret=1/)
}

describe('clipgate doctor --through', () => {
  it('finds what a proxy does wrong, and nothing else', { concurrency: 8 }, async (t) => {
    const gateway = await serveQuickGateway(t)
    const { admin, phone } = gateway
    await phone.pushFile('File', 'photo.txt', Buffer.from('hello'))
    const before = await phone.document()

    const tests = Object.entries(CASES).map(([name, testedCase]) =>
      t.test(`a proxy that ${name}`, (test) => testCase(test, gateway, testedCase)),
    )
    await Promise.all(tests)
    await t.test('a proxy that does nothing wrong', async (test) => {
      const fault = withAddress({}, nextAddress())
      const proxy = await startStandIn(test, { upstream: gateway.url, fault })
      const findings = await examineHere({ url: proxy.url, credentials: undefined }, { admin })
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

function sendPage(
  response: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders | undefined | '' = {},
): true {
  const body = status === 204 ? undefined : HTML
  response.writeHead(status, { 'Content-Type': 'text/html', Server: 'nginx', ...(headers || {}) })
  response.end(body)
  return true
}

function sendJson(response: ServerResponse, body: string): true {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(body)
  return true
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

function compress(isChosen: (type: string) => boolean): NonNullable<Fault['answer']> {
  return (answer, response, request) => {
    if (!/gzip/.test(request.headers['accept-encoding'] ?? '')) return false
    if (!isChosen(answer.headers['content-type'] ?? '') || answer.statusCode !== 200) return false
    const headers = without(answer.headers, 'content-length')
    response.writeHead(200, { ...headers, 'content-encoding': 'gzip' })
    response.flushHeaders()
    answer.pipe(createGzip()).pipe(response)
    return true
  }
}

/** Answers `/api/version` by what it got first. */
function keepAnswers(isKept: (request: IncomingMessage) => boolean): Fault {
  let kept: string | undefined
  return {
    intercept: (request, response) =>
      request.url === '/api/version' && kept !== undefined && sendJson(response, kept),
    answer: (answer, _response, request) => {
      if (request.url === '/api/version' && isKept(request) && answer.statusCode === 200) {
        kept = '"clipgate 1.0.0"'
      }
      return false
    },
  }
}

/** After one wrong login, nobody gets in. */
function keepRefusals(): Fault {
  let isRefused = false
  return {
    intercept: (request, response) =>
      request.url === '/api/version' &&
      isRefused &&
      sendPage(response, 401, { 'WWW-Authenticate': 'Basic realm="clipgate"' }),
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
