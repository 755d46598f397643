import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { route, type Handler } from '../../src/http/call.ts'
import { readBytes } from '../../src/http/read-body.ts'
import { text } from '../../src/http/reply.ts'
import { LINGER_MS } from '../../src/http/silence.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { head, serveKernel, type Owner } from '../support/http-kernel.ts'

const echo: Handler<Owner> = async (call) => {
  const body = await readBytes(call, 1000)
  return text(`<${Buffer.from(body).toString()}>`)
}
const ECHO = route('POST', '/echo', echo, { maxBody: 1000 })

/** What must never be reached behind something malformed. */
const SMUGGLED = head('GET /smuggled')

async function serve(t: Parameters<typeof serveKernel>[0]) {
  let smuggled = 0
  const clock = new FakeClock()
  const kernel = await serveKernel(t, {
    clock,
    routes: [ECHO, route('GET', '/smuggled', () => text(`smuggled ${++smuggled}`))],
  })
  /** Reads what is answered until the server hangs up, for whom a body without an end ends soon. */
  const askOut = async (bytes: string): Promise<string> => {
    const client = (await kernel.connect()).send(bytes)
    const first = await client.readUntil('\r\n\r\n')
    let isOver = false
    const rest = client.readToEnd().finally(() => (isOver = true))
    while (!isOver) {
      await nextTurn()
      clock.advance(LINGER_MS)
    }
    return first + (await rest)
  }
  return { ...kernel, askOut, isSmuggled: () => smuggled > 0 }
}

/** Status lines of all answers on a connection. */
function statuses(answers: string): readonly string[] {
  return [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = '']) => status)
}

const CHUNKED = 'Transfer-Encoding: chunked'

const MALFORMED: Readonly<Record<string, string>> = {
  'both lengths': head('POST /echo', 'Content-Length: 5', CHUNKED) + '0\r\n\r\n',
  'both lengths, turned around': head('POST /echo', CHUNKED, 'Content-Length: 5') + '0\r\n\r\n',
  'two lengths': head('POST /echo', 'Content-Length: 5', 'Content-Length: 5') + 'hello',
  'a list of lengths': head('POST /echo', 'Content-Length: 5, 5') + 'hello',
  'a negative length': head('POST /echo', 'Content-Length: -5') + 'hello',
  'a length with a sign': head('POST /echo', 'Content-Length: +5') + 'hello',
  'a hexadecimal length': head('POST /echo', 'Content-Length: 0x5') + 'hello',
  'a length beyond all numbers': head('POST /echo', `Content-Length: ${'9'.repeat(30)}`) + 'hello',
  'an empty length': head('POST /echo', 'Content-Length:') + 'hello',
  'a chunk size that is none': head('POST /echo', CHUNKED) + 'zz\r\n\r\n',
  'a negative chunk size': head('POST /echo', CHUNKED) + '-1\r\n\r\n',
  'a chunk size beyond all numbers': head('POST /echo', CHUNKED) + `${'f'.repeat(20)}\r\n\r\n`,
  'a chunk that is longer than it says': head('POST /echo', CHUNKED) + '2\r\nhello\r\n0\r\n\r\n',
  'a bare LF behind a chunk size': head('POST /echo', CHUNKED) + '5\nhello\r\n0\r\n\r\n',
  'an endless chunk extension': head('POST /echo', CHUNKED) + `5;${'a'.repeat(20_000)}\r\nhello`,
  'a folded header': head('GET /', 'X-A: b\r\n c'),
  'a bare LF behind the request line': 'GET / HTTP/1.1\nHost: box\r\n\r\n',
  'a bare LF behind a header': 'GET / HTTP/1.1\r\nHost: box\nX-A: b\r\n\r\n',
  'a bare CR in a header': head('GET /', 'X-A: b\rX-B: c'),
  'NUL in a header': head('GET /', 'X-A: b\0c'),
  'a control character in a header': head('GET /', 'X-A: b\x01c'),
  'a space before the colon': head('GET /', 'X-A : b'),
  'a header without a name': head('GET /', ': b'),
  'no Host': 'GET / HTTP/1.1\r\nAuthorization: yes\r\n\r\n',
  'two Hosts': head('GET /', 'Host: box'),
  'an empty Host': 'GET / HTTP/1.1\r\nHost:\r\n\r\n',
  'a list of Hosts': 'GET / HTTP/1.1\r\nHost: a, b\r\n\r\n',
  'a Host with a user': 'GET / HTTP/1.1\r\nHost: user@box\r\n\r\n',
  'a Host with a path': 'GET / HTTP/1.1\r\nHost: box/x\r\n\r\n',
  'a version that is none': 'GET / HTTP/x.1\r\nHost: box\r\n\r\n',
  'another protocol': 'GET / HTTQ/1.1\r\nHost: box\r\n\r\n',
  'raw bytes in the target': head('GET /\xc3\xa9'),
  'a TLS handshake': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc',
}

/** What two readers could understand in two ways: a head, and what may stand behind it. */
const AMBIGUOUS: readonly (readonly [fields: string, body?: string])[] = [
  ...['0 0', '-0', '1e0', '\x0b0', '\xb2'].map((length) => [`Content-Length: ${length}`] as const),
  ...['Content-Length : 0', 'Content-Length: 0\r\n 9', 'Transfer-Encoding : chunked'].map(
    (field) => [field, '0\r\n\r\n'] as const,
  ),
  ...['\r', '\n', '\0'].map((end) => [`X-A: b${end}Content-Length: 9`] as const),
  ...['\r\n chunked', ' chunked, identity', ' chunked;q=1', ' \x0bchunked'].map(
    (coding) => [`Transfer-Encoding:${coding}`, '0\r\n\r\n'] as const,
  ),
  ...['identity', 'chunked'].flatMap((other) =>
    [`${CHUNKED}\r\nTransfer-Encoding: ${other}`, `Transfer-Encoding: ${other}\r\n${CHUNKED}`].map(
      (fields) => [fields, '0\r\n\r\n'] as const,
    ),
  ),
  ...['0x0', '+0', '-0', '', ' 0', '0 0', '10000000000000000'].map(
    (size) => [CHUNKED, `${size}\r\n\r\n`] as const,
  ),
  ...['0\n\n', '0;a\n\r\n', '1\r\na\n0\r\n\r\n', '0\r\nX-A : b\r\n\r\n'].map(
    (body) => [CHUNKED, body] as const,
  ),
]

describe('malformed framing', () => {
  for (const [name, bytes] of Object.entries(MALFORMED)) {
    // Protocol: both `Content-Length` and `Transfer-Encoding`
    it(`with ${name} is answered 400 and ends the connection`, async (t) => {
      const { ask, isSmuggled } = await serve(t)
      assert.deepEqual(statuses(await ask(bytes + SMUGGLED)), ['400'])
      assert.ok(!isSmuggled())
    })
  }

  // Protocol: The connection ends after each of them
  it('that two readers could understand in two ways ends the connection, and nothing follows', async (t) => {
    const { askOut, isSmuggled } = await serve(t)
    for (const [fields, body = ''] of AMBIGUOUS) {
      const what = JSON.stringify(`${fields} ${body}`)
      const [status = '', ...others] = statuses(
        await askOut(head('POST /echo', fields) + body + SMUGGLED),
      )
      assert.ok(['400', '501'].includes(status), `${status} to ${what}`)
      assert.deepEqual(others, [], what)
    }
    assert.ok(!isSmuggled())
  })

  // Protocol, Framing: a transfer coding other than `chunked`
  it('with a transfer coding other than chunked is answered 501', async (t) => {
    const { askOut, isSmuggled } = await serve(t)
    for (const coding of ['gzip, chunked', 'gzip', '', 'xchunked', '"chunked"', 'identity']) {
      const answers = await askOut(head('POST /echo', `Transfer-Encoding: ${coding}`) + SMUGGLED)
      assert.deepEqual(statuses(answers), ['501'], coding)
    }
    const old = `POST /echo HTTP/1.0\r\n${CHUNKED}\r\n\r\n0\r\n\r\n`
    assert.deepEqual(statuses(await askOut(old + SMUGGLED)), ['501'])
    assert.ok(!isSmuggled())
  })

  // Protocol, Framing: a version other than HTTP/1.0 and 1.1
  it('with a version other than 1.0 and 1.1 is answered 505', async (t) => {
    const { ask } = await serve(t)
    for (const version of ['', ' HTTP/0.9', ' HTTP/2.0', ' HTTP/1.2', ' HTTP/9.9']) {
      const answers = await ask(`GET /${version}\r\nHost: box\r\n\r\n`)
      assert.deepEqual(statuses(answers), ['505'], version)
    }
    assert.deepEqual(statuses(await ask('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')), ['505'])
  })

  it('is told as a problem, with the headers that every answer has', async (t) => {
    const { connect } = await serve(t)
    const answer = await (await connect()).send('nonsense\r\n\r\n').read()
    assert.equal(answer.headers['content-type'], 'application/problem+json')
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.equal(answer.headers['connection'], 'close')
    assert.ok(Number.isFinite(Date.parse(answer.headers['date'] ?? '')))
    assert.equal(JSON.parse(answer.body).code, 'BAD_REQUEST')
  })
})

describe('bounds', () => {
  it('never lose a header that came', async (t) => {
    const { connect } = await serve(t)
    const fields = Array.from({ length: 200 }, (_, index) => `a${index}: b`)
    const lines = ['GET / HTTP/1.1', 'Host: box', ...fields, 'Authorization: yes', '', '']
    assert.equal((await (await connect()).send(lines.join('\r\n')).read()).status, 200)
  })

  // Protocol, Framing: a header section of more than 16 KiB
  it('of a header that never ends end the connection, however much still comes', async (t) => {
    const client = await (await serve(t)).connect()
    client.send(`GET / HTTP/1.1\r\nX-A: ${'b'.repeat(17_000)}`)
    assert.equal((await client.read()).status, 431)
    const flood = 'b'.repeat(64 * 1024)
    const pour = (): void => {
      while (!client.socket.destroyed && client.socket.write(flood));
    }
    client.socket.on('drain', pour)
    pour()
    await client.readToEnd()
    assert.ok(client.socket.bytesWritten < 64 * 1024 * 1024)
  })
})

describe('a connection', () => {
  // Protocol: are answered in their order
  it('answers pipelined requests in their order', async (t) => {
    const { connect } = await serveKernel(t, {
      routes: [
        route('GET', '/slow', async () => {
          await new Promise(setImmediate)
          return text('slow')
        }),
        ECHO,
      ],
    })
    const client = await connect()
    client.send(head('GET /slow') + head('POST /echo', 'Content-Length: 2') + 'hi' + head('GET /'))
    assert.equal((await client.read()).body, 'slow')
    assert.equal((await client.read()).body, '<hi>')
    assert.equal((await client.read()).body, 'root')
  })

  it('ends when a body behind an owed answer is malformed', async (t) => {
    const { ask } = await serveKernel(t, {
      routes: [route('GET', '/never', () => new Promise(() => {})), ECHO],
    })
    assert.equal(await ask(head('GET /never') + head('POST /echo', CHUNKED) + 'zz\r\n\r\n'), '')
  })

  it('goes on after a body that was read, in any framing', async (t) => {
    const client = await (await serve(t)).connect()
    const body = '2;a=b\r\nhi\r\n3\r\n th\r\n0\r\nAuthorization: no\r\n\r\n'
    client.send(head('POST /echo', CHUNKED) + body)
    assert.equal((await client.read()).body, '<hi th>')
    assert.equal((await client.send(head('GET /')).read()).body, 'root')
  })

  it('takes credentials from the header section only', async (t) => {
    const { connect } = await serve(t)
    const start = `POST /echo HTTP/1.1\r\nHost: box\r\n${CHUNKED}\r\n\r\n`
    const client = await connect()
    assert.equal((await client.send(`${start}0\r\nAuthorization: yes\r\n\r\n`).read()).status, 401)
  })

  it('ends after an answer to an offer to speak another protocol', async (t) => {
    const { ask, isSmuggled } = await serve(t)
    const offer = head('GET /', 'Connection: Upgrade', 'Upgrade: websocket')
    const answers = await ask(offer + SMUGGLED)
    assert.deepEqual(statuses(answers), ['200'])
    assert.match(answers, /Connection: close/)
    assert.ok(!isSmuggled())
  })

  it('serves nothing behind a request with Connection: close', async (t) => {
    const { ask, isSmuggled } = await serve(t)
    assert.deepEqual(statuses(await ask(head('GET /', 'Connection: close') + SMUGGLED)), ['200'])
    assert.ok(!isSmuggled())
  })

  it('is no tunnel', async (t) => {
    const { ask, connect } = await serve(t)
    assert.equal(await ask('CONNECT box:80 HTTP/1.1\r\nHost: box:80\r\n\r\n'), '')
    assert.equal((await (await connect()).send(head('GET /')).read()).status, 200)
  })

  it('speaks HTTP/1.0, also without a Host', async (t) => {
    const { ask } = await serve(t)
    const answers = await ask('GET / HTTP/1.0\r\nAuthorization: yes\r\n\r\n')
    assert.match(answers, /^HTTP\/1\.1 200 .*root$/s)
  })

  it('may be reset at any time', async (t) => {
    const { connect, failures } = await serve(t)
    const upload = head('POST /echo', 'Content-Length: 9') + 'hi'
    for (const start of ['', 'GE', 'GET / HTTP/1.1\r\nHo', upload]) {
      const client = await connect()
      client.send(start).socket.resetAndDestroy()
    }
    assert.equal((await (await connect()).send(head('GET /')).read()).status, 200)
    assert.deepEqual(failures, [])
  })
})

describe('a target', () => {
  it('is found in every spelling', async (t) => {
    const client = await (await serve(t)).connect()
    const spellings = ['/echo', '//echo/', '/echo?x', '/%65cho', 'http://box/echo']
    for (const target of spellings) {
      assert.equal((await client.send(head(`POST ${target}`)).read()).status, 200, target)
    }
  })

  it('that is malformed is 400 to those who have logged in, and 401 to the others', async (t) => {
    const client = await (await serve(t)).connect()
    for (const target of ['/%', '/%ff', '/#a', '*', 'ftp://box/', '/file/%zz']) {
      assert.equal((await client.send(head(`GET ${target}`)).read()).status, 400, target)
      const stranger = `GET ${target} HTTP/1.1\r\nHost: box\r\n\r\n`
      assert.equal((await client.send(stranger).read()).status, 401, target)
    }
  })
})
