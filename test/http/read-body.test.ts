import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { connect as connectTcp } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as turnOfEvents } from 'node:timers/promises'
import { route, type Call } from '../../src/http/call.ts'
import { HttpError } from '../../src/http/http-error.ts'
import { freeBytes } from '../../src/lib/read-bytes.ts'
import { LINGER_MS } from '../../src/http/silence.ts'
import {
  BODY_IDLE_MS,
  declaredLength,
  readBytes,
  readJson,
  StreamedBody,
} from '../../src/http/read-body.ts'
import { empty, json, text, type Reply } from '../../src/http/reply.ts'
import { defer } from '../support/defer.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { head, serveKernel, type KernelOptions, type Owner } from '../support/http-kernel.ts'
import fc, { forAllAsync } from '../support/property.ts'

const LIMIT = 1000
const CHUNKED = 'Transfer-Encoding: chunked'

/** What one read of a socket brings, at most. */
const READ_BYTES = 64 * 1024

/** What Node keeps of a body before it stops reading. */
const HIGH_WATER_BYTES = 16 * 1024

async function collect(source: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of source) chunks.push(Uint8Array.from(chunk))
  return Buffer.concat(chunks).toString('latin1')
}

/** Serves readers whose failures are kept. */
async function serve(t: TestContext, options: KernelOptions = {}) {
  const failed: unknown[] = []
  let onFailed = (): void => {}
  const watch = (read: (call: Call<Owner>) => Promise<string>) => async (call: Call<Owner>) => {
    try {
      return text(await read(call))
    } catch (error) {
      failed.push(error)
      onFailed()
      throw error
    }
  }
  const bytes = async (call: Call<Owner>): Promise<string> => {
    const body = await readBytes(call, LIMIT)
    return Buffer.from(body).toString('latin1')
  }
  const stream = (call: Call<Owner>): Promise<string> => collect(new StreamedBody(call, LIMIT))
  const kernel = await serveKernel(t, {
    ...options,
    routes: [
      route('POST', '/bytes', watch(bytes), { maxBody: 10 * LIMIT }),
      route('POST', '/stream', watch(stream), { maxBody: LIMIT }),
      route('POST', '/json', async (call) => json(await readJson(call, LIMIT))),
      route('POST', '/length', ({ request }) => text(String(declaredLength(request)))),
      ...(options.routes ?? []),
    ],
  })
  return {
    ...kernel,
    failed,
    nextFailure: () => new Promise<void>((resolve) => (onFailed = resolve)),
    post: (path: string, body: RequestInit['body']) =>
      fetch(`${kernel.url}${path}`, {
        method: 'POST',
        headers: { authorization: 'yes' },
        body: body ?? null,
      }),
  }
}

function codeOf(error: unknown): string {
  return error instanceof HttpError ? error.code : String(error)
}

/** A body in chunks of the given sizes, in the chunked framing. */
function chunked(body: string, sizes: readonly number[]): string {
  let rest = body
  let framed = ''
  for (const size of [...sizes, body.length]) {
    const chunk = rest.slice(0, size)
    rest = rest.slice(size)
    if (chunk !== '') framed += `${chunk.length.toString(16)}\r\n${chunk}\r\n`
  }
  return `${framed}0\r\n\r\n`
}

for (const path of ['/bytes', '/stream']) {
  describe(`a body read as ${path.slice(1)}`, () => {
    it('is the same for any cutting', async (t) => {
      const client = await (await serve(t)).connect()
      const body = fc.string({ unit: fc.constantFrom(...'a\r\n\0\xff'), maxLength: LIMIT })
      const cutting = fc.array(fc.integer({ min: 1, max: 300 }))
      await forAllAsync(body, cutting, async (content, sizes) => {
        client.send(head(`POST ${path}`, CHUNKED) + chunked(content, sizes))
        assert.equal(Buffer.from((await client.read()).body, 'latin1').toString(), content)
        client.send(head(`POST ${path}`, `Content-Length: ${content.length}`) + content)
        assert.equal(Buffer.from((await client.read()).body, 'latin1').toString(), content)
      })
    })

    it('may be missing', async (t) => {
      const client = await (await serve(t)).connect()
      assert.equal((await client.send(head(`POST ${path}`)).read()).body, '')
      assert.equal((await client.send(head(`POST ${path}`, 'Content-Length: 0')).read()).body, '')
    })

    it('may be exactly as long as the limit, and not a byte longer', async (t) => {
      const { connect, failed } = await serve(t)
      const client = await connect()
      const fits = 'a'.repeat(LIMIT)
      client.send(head(`POST ${path}`, CHUNKED) + chunked(fits, []))
      assert.equal((await client.read()).body, fits)
      client.send(head(`POST ${path}`, CHUNKED) + chunked(`${fits}b`, []))
      const answer = await client.read()
      assert.equal(answer.status, 413)
      assert.equal(answer.headers['connection'], 'close')
      assert.deepEqual(failed.map(codeOf), ['BODY_TOO_LARGE'])
    })

    it('is refused by its declared length before a byte of it has come', async (t) => {
      const client = await (await serve(t)).connect()
      client.send(head(`POST ${path}`, `Content-Length: ${LIMIT + 1}`, 'Expect: 100-continue'))
      assert.equal((await client.read()).status, 413)
    })

    it('is refused as soon as an endless one passes the limit', async (t) => {
      const client = await (await serve(t)).connect()
      client.send(head(`POST ${path}`, CHUNKED) + chunked('a'.repeat(LIMIT + 1), []).slice(0, -5))
      assert.equal((await client.read()).status, 413)
    })

    it('that stops coming is answered 408', async (t) => {
      const clock = new FakeClock()
      const client = await (await serve(t, { clock })).connect()
      client.send(head(`POST ${path}`, 'Content-Length: 5', 'Expect: 100-continue') + 'he')
      assert.equal((await client.read()).status, 100)
      clock.advance(BODY_IDLE_MS)
      const answer = await client.read()
      assert.equal(answer.status, 408)
      assert.equal(answer.headers['connection'], 'close')
    })

    it("that breaks off fails, and is nobody's fault", async (t) => {
      const { connect, failed, failures, nextFailure } = await serve(t)
      const client = await connect()
      const failure = nextFailure()
      client.send(head(`POST ${path}`, 'Content-Length: 5') + 'he').close()
      await failure
      assert.deepEqual(failed.map(codeOf), ['INCOMPLETE_BODY'])
      assert.deepEqual(failures, [])
    })

    it('that the client calls complete too early is answered 400', async (t) => {
      const { connect, failed, nextFailure } = await serve(t)
      const client = await connect()
      const failure = nextFailure()
      client.send(head(`POST ${path}`, 'Content-Length: 5') + 'he').socket.end()
      assert.equal(JSON.parse((await client.read()).body).code, 'INCOMPLETE_BODY')
      await failure
      assert.deepEqual(failed.map(codeOf), ['INCOMPLETE_BODY'])
    })

    it('is asked for with 100 Continue, once', async (t) => {
      const client = await (await serve(t)).connect()
      client.send(head(`POST ${path}`, 'Content-Length: 5', 'Expect: 100-Continue'))
      assert.equal((await client.read()).status, 100)
      client.send('hello')
      assert.equal((await client.read()).body, 'hello')
    })
  })
}

describe('100 Continue', () => {
  // Protocol: The first check that fails is answered
  it('does not come before any check of the request has', async (t) => {
    const { connect } = await serve(t)
    const expect = ['Content-Length: 5', 'Expect: 100-continue']
    const stranger = ['POST /bytes HTTP/1.1', 'Host: box', ...expect, '', ''].join('\r\n')
    const refused: readonly (readonly [string, number])[] = [
      [stranger, 401],
      [head('POST /nope', ...expect), 404],
      [head('DELETE /bytes', ...expect), 405],
      [head('POST /bytes', 'Content-Encoding: gzip', ...expect), 415],
      [head('POST /bytes', 'Content-Length: 10001', 'Expect: 100-continue'), 413],
    ]
    for (const [bytes, status] of refused) {
      assert.equal((await (await connect()).send(bytes).read()).status, status)
    }
  })

  it('is not sent to HTTP/1.0, nor for a body that is empty', async (t) => {
    const { connect } = await serve(t)
    const fields = ['Authorization: yes', 'Content-Length: 5', 'Expect: 100-continue', '', '']
    const old = ['POST /bytes HTTP/1.0', ...fields].join('\r\n')
    assert.equal((await (await connect()).send(`${old}hello`).read()).body, 'hello')
    const none = head('POST /bytes', 'Content-Length: 0', 'Expect: 100-continue')
    assert.equal((await (await connect()).send(none).read()).status, 200)
  })

  it('is all that can be expected', async (t) => {
    const client = await (await serve(t)).connect()
    const answer = await client.send(head('POST /bytes', 'Expect: the-unexpected')).read()
    assert.equal(answer.status, 417)
  })
})

describe('JSON', () => {
  it('is UTF-8, with or without a byte order mark', async (t) => {
    const { post } = await serve(t)
    for (const body of ['{"ü":1}', '\ufeff{"ü":1}']) {
      assert.deepEqual(await (await post('/json', body)).json(), { ü: 1 })
    }
  })

  it('that is none is answered 400, without a piece of it', async (t) => {
    const { post } = await serve(t)
    for (const body of ['', '{', 'secret', '{"secret":', Buffer.from([0x22, 0xff, 0x22])]) {
      const response = await post('/json', body)
      assert.equal(response.status, 400)
      assert.doesNotMatch(await response.text(), /secret/)
    }
  })
})

describe('long JSON', () => {
  /** Answers with the length of the text that it was sent. */
  const measure = route(
    'POST',
    '/long',
    async (call) => {
      const value = await readJson(call, 9_000_000)
      return text(String(value instanceof Uint8Array ? Buffer.from(value).toString().length : 0))
    },
    { maxBody: 9_000_000 },
  )

  it('is UTF-8 like any other, wherever its characters are cut', async (t) => {
    const { post } = await serve(t, { routes: [measure] })
    for (const before of ['"', '"a', '"aé', '\ufeff"a🧀']) {
      const body = `${before}${'写🧀'.repeat(300_000)}"`
      assert.equal(await (await post('/long', body)).text(), String(JSON.parse(body.trim()).length))
    }
    for (const last of [Buffer.from([0xe5, 0x86]), Buffer.from([0xff, 0x22]), Buffer.from('写')]) {
      const body = Buffer.concat([Buffer.from(`"${'写🧀'.repeat(300_000)}`), last])
      assert.equal((await post('/long', body)).status, 400)
    }
  })
})

describe('a body of unknown length', () => {
  it('is read whole, however large it grows', async (t) => {
    const size = 3_000_000
    const { connect } = await serve(t, {
      routes: [
        route('POST', '/sum', async (call) => {
          const bytes = await readBytes(call, size)
          return text(`${bytes.length} ${bytes.reduce((sum, byte) => sum + byte, 0)}`)
        }),
      ],
    })
    const body = Buffer.from(new Uint8Array(size).map((_, index) => index % 251))
    const client = await connect()
    const framed = chunked(body.toString('latin1'), [1, 70_000, 5, 900_000])
    client.send(head('POST /sum', CHUNKED) + framed)
    assert.equal((await client.read()).body, `${size} ${body.reduce((sum, byte) => sum + byte, 0)}`)
  })
})

describe('the declared length', () => {
  it('is unknown for a chunked body, and 0 without one', async (t) => {
    const { connect } = await serve(t)
    const ask = async (...fields: readonly string[]) =>
      (await (await connect()).send(head('POST /length', ...fields)).read()).body
    assert.equal(await ask('Content-Length: 7'), '7')
    assert.equal(await ask(CHUNKED), 'undefined')
    assert.equal(await ask(), '0')
  })
})

describe('time', () => {
  for (const [seconds, status] of [
    [39, 200],
    [40, 408],
  ] as const) {
    // Protocol: A body of metadata, and what follows a file
    it(`is earned by the bytes of a body that is read whole, ${seconds} s too`, async (t) => {
      const clock = new FakeClock()
      const size = 200 * 1024
      const patient = route(
        'POST',
        '/patient',
        async (call) => text(String((await readBytes(call, size)).length)),
        { maxBody: size },
      )
      const { connect } = await serve(t, { clock, routes: [patient] })
      const client = await connect()
      client.send(head('POST /patient', `Content-Length: ${size}`, 'Expect: 100-continue'))
      assert.equal((await client.read()).status, 100)
      // Ten seconds are earned.
      client.send('x'.repeat(160 * 1024))
      await (await connect()).send(head('GET /')).read()
      clock.advance(seconds * 1000)
      await (await connect()).send(head('GET /')).read()
      client.send('x'.repeat(40 * 1024))
      assert.equal((await client.read()).status, status)
    })
  }

  it('does not run while it is the consumer who is slow', async (t) => {
    const clock = new FakeClock()
    const begun = defer<void>()
    const goOn = defer<void>()
    const body = 'a'.repeat(500)
    const slowly = route('POST', '/slowly', async (call) => {
      let size = 0
      for await (const chunk of new StreamedBody(call, LIMIT)) {
        size += chunk.length
        begun.resolve()
        await goOn.promise
      }
      return text(String(size))
    })
    const { connect } = await serve(t, { clock, routes: [slowly] })
    const client = await connect()
    client.send(head('POST /slowly', 'Content-Length: 500') + body.slice(0, 100))
    await begun.promise
    for (let round = 0; round < 3; round += 1) {
      clock.advance(BODY_IDLE_MS)
      await (await connect()).send(head('GET /')).read()
    }
    client.send(body.slice(100))
    goOn.resolve()
    assert.equal((await client.read()).body, '500')
  })
})

describe('a consumer', () => {
  it('may leave early: the answer is given, and the connection ends', async (t) => {
    const clock = new FakeClock()
    const { connect } = await serve(t, {
      clock,
      routes: [
        route('POST', '/peek', async (call) => {
          for await (const chunk of new StreamedBody(call, LIMIT)) {
            return text(String(chunk.length))
          }
          return empty(200)
        }),
      ],
    })
    const client = await connect()
    const answer = await client.send(head('POST /peek', 'Content-Length: 9') + 'hello').read()
    assert.deepEqual([answer.headers['connection'], answer.body], ['close', '5'])
    clock.advance(LINGER_MS)
    assert.equal(await client.readToEnd(), '')
  })

  it('that is slow holds the sender back, and loses nothing', async (t) => {
    const size = 8 * 1024 * 1024
    let peak = 0
    const { url } = await serve(t, {
      routes: [
        route(
          'POST',
          '/slowly',
          async (call) => {
            let received = 0
            for await (const chunk of new StreamedBody(call, size)) {
              received += chunk.length
              await new Promise((resolve) => setImmediate(resolve))
              peak = Math.max(peak, call.request.readableLength)
            }
            return text(String(received))
          },
          { maxBody: size },
        ),
      ],
    })
    const body = Buffer.alloc(size, 'x')
    const headers = { authorization: 'yes' }
    const response = await fetch(`${url}/slowly`, { method: 'POST', headers, body })
    assert.equal(await response.text(), String(size))
    assert.ok(peak < 1024 * 1024)
  })

  for (const isWatched of [false, true]) {
    const what = isWatched ? 'shares the bytes with others who listen' : 'has the bytes to itself'
    it(what, async (t) => {
      const size = 1024 * 1024
      const watched: Buffer[] = []
      const left: number[] = []
      const use = async (call: Call<Owner>) => {
        if (isWatched) call.request.on('data', (chunk: Buffer) => watched.push(chunk))
        for await (const chunk of new StreamedBody(call, size)) {
          freeBytes(chunk)
          left.push(chunk.length)
        }
        return empty(200)
      }
      const { url } = await serve(t, { routes: [route('POST', '/use', use, { maxBody: size })] })
      const body = Buffer.alloc(size, 'x')
      await fetch(`${url}/use`, { method: 'POST', headers: { authorization: 'yes' }, body })
      if (isWatched) assert.deepEqual(Buffer.concat(watched), body)
      else assert.ok(left.some((length) => length === 0))
    })
  }

  it('finds an end, not a wait, in a body that was read before', async (t) => {
    const { connect } = await serve(t, {
      routes: [
        route('POST', '/twice', async (call) => {
          const first = await readBytes(call, LIMIT)
          const second = await readBytes(call, LIMIT)
          return text(`${first.length} ${second.length}`)
        }),
      ],
    })
    const client = await connect()
    client.send(head('POST /twice', 'Content-Length: 5') + 'hello')
    assert.equal((await client.read()).body, '5 0')
  })

  it('that comes after the client has left is told so', async (t) => {
    const codes: string[] = []
    let done = (): void => {}
    const finished = new Promise<void>((resolve) => (done = resolve))
    const { connect } = await serve(t, {
      routes: [
        route('POST', '/late', async (call) => {
          await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
          const note = (error: unknown): unknown => codes.push(codeOf(error))
          await readBytes(call, LIMIT).catch(note)
          await collect(new StreamedBody(call, LIMIT)).catch(note)
          done()
          return empty(200)
        }),
      ],
    })
    const client = await connect()
    const start = head('POST /late', 'Content-Length: 5')
    await new Promise((resolve) => client.socket.write(start, resolve))
    client.close()
    await finished
    assert.deepEqual(codes, ['INCOMPLETE_BODY', 'INCOMPLETE_BODY'])
  })
})

describe('a body in a great many chunks', () => {
  for (const [what, login, status] of [
    ['that is read', 'yes', 200],
    ['that nobody wants', 'no', 401],
  ] as const) {
    it(`is read once in a turn, whoever sends it: one ${what}`, async (t) => {
      const chunk = '1\r\n \r\n'
      let come = 0
      const most = 50_000
      const { connect } = await serveKernel(t, {
        authenticate: ({ request }) => {
          request.on('data', (bytes: Buffer) => (come += bytes.length))
          if (request.headers.authorization === 'yes') return 'owner'
          throw new HttpError('UNAUTHORIZED')
        },
        routes: [
          route('PUT', '/it', async (call) => text(String((await readBytes(call, most)).length)), {
            maxBody: most,
          }),
        ],
      })
      const client = await connect()
      const start = head('PUT /it', CHUNKED).replace(
        'Authorization: yes',
        `Authorization: ${login}`,
      )
      client.send(`${start}${chunk.repeat(most)}0\r\n\r\n`)
      let inTurn = 0
      while (come < most) {
        const before = come
        await turnOfEvents()
        inTurn = Math.max(inTurn, come - before)
      }
      assert.ok(inTurn <= 2 * (READ_BYTES / chunk.length), `${inTurn} chunks in a turn`)
      assert.equal((await client.read()).status, status)
    })
  }

  for (const what of ['that waits for its turn', 'whose login takes its time']) {
    it(`is not kept chunk by chunk before it is read: that of a request ${what}`, async (t) => {
      const [first, known] = [defer<Reply>(), defer<'owner'>()]
      let pieces = 0
      const { connect } = await serveKernel(t, {
        authenticate: ({ request }) =>
          request.url === '/it' && what !== 'that waits for its turn' ? known.promise : 'owner',
        routes: [
          route('GET', '/first', () => first.promise),
          route('PUT', '/it', async (call) => text(`${(await readBytes(call, 60_000)).length}`), {
            maxBody: 60_000,
          }),
        ],
      })
      const onRequest = (message: unknown): void => {
        // Documented: https://nodejs.org/api/diagnostics_channel.html#http
        const { request } = message as { readonly request: IncomingMessage }
        const { push } = request
        request.push = (piece: unknown, encoding?: BufferEncoding) => {
          if (request.url === '/it') pieces += 1
          return push.call(request, piece, encoding)
        }
      }
      subscribe('http.server.request.start', onRequest)
      t.after(() => unsubscribe('http.server.request.start', onRequest))
      const client = await connect()
      const put = `${head('PUT /it', CHUNKED)}${'1\r\n \r\n'.repeat(60_000)}0\r\n\r\n`
      client.send(what === 'that waits for its turn' ? head('GET /first') + put : put)
      // Whoever reads on has had all of it by then.
      const other = await connect()
      for (let index = 0; index < 1000; index++) await other.send(head('GET /')).read()
      first.resolve(text('first'))
      known.resolve('owner')
      if (what === 'that waits for its turn') assert.equal((await client.read()).body, 'first')
      assert.equal((await client.read()).body, '60000')
      assert.ok(pieces < 300, `${pieces} chunks in Node's own buffer`)
    })
  }

  // Elsewhere a loopback network has one address.
  const onLinux = { skip: process.platform === 'linux' ? false : 'skipped: needs Linux' }
  // Behind 16 KiB of them, newer versions end the connection.
  const isNew = !process.version.startsWith('v20.')
  const oldNode = { skip: isNew ? 'skipped: this Node refuses so many trailers' : onLinux.skip }
  for (const [what, start, piece, inRead] of [
    ['chunks', head('PUT /it', CHUNKED), '1\r\n \r\n', READ_BYTES / 6],
    ['trailers', '', `${head('PUT /it', CHUNKED)}0\r\n${'a:\r\n'.repeat(4000)}\r\n`, 4],
  ] as const) {
    const options = what === 'trailers' ? oldNode : onLinux
    it(`keeps nobody waiting who comes from another address: many ${what}`, options, async (t) => {
      let come = 0
      const { connect, port } = await serveKernel(t, {
        authenticate: ({ request }) => {
          if (request.url === '/') return 'owner'
          if (start === '') come += 1
          request.on('data', (bytes: Buffer) => (come += bytes.length))
          throw new HttpError('UNAUTHORIZED')
        },
        routes: [route('PUT', '/it', () => empty(200), { maxBody: 50_000 })],
      })
      const join = (): void => {
        const socket = connectTcp({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
        const bytes = start + piece.repeat(300_000 / piece.length)
        // Some are hung up on.
        socket.on('error', () => undefined).write(bytes)
        t.after(() => socket.destroy())
      }
      join()
      while (come === 0) await turnOfEvents()
      for (let index = 0; index < 40; index++) join()
      const newcomer = await connect()
      const before = come
      assert.equal((await newcomer.send(head('GET /')).read()).status, 200)
      const reads = (come - before) / inRead
      assert.ok(reads < 5, `${reads} reads of others`)
    })
  }

  it('is not kept chunk by chunk while its consumer is slow', async (t) => {
    const chunk = '1\r\n \r\n'
    let most = 0
    const { connect } = await serveKernel(t, {
      routes: [
        route(
          'PUT',
          '/it',
          async (call) => {
            for await (const _ of new StreamedBody(call, 60_000)) {
              most = Math.max(most, call.request.readableLength)
              await turnOfEvents()
            }
            return empty(200)
          },
          { maxBody: 60_000 },
        ),
      ],
    })
    const client = await connect()
    client.send(`${head('PUT /it', CHUNKED)}${chunk.repeat(60_000)}0\r\n\r\n`)
    assert.equal((await client.read()).status, 200)
    const oneRead = READ_BYTES / chunk.length
    assert.ok(most < HIGH_WATER_BYTES + oneRead, `${most} bytes in Node's own buffer`)
  })
})
