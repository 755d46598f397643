import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as turnOfEvents } from 'node:timers/promises'
import { route } from '../../src/http/call.ts'
import { readBytes } from '../../src/http/read-body.ts'
import { text, type Reply, type Wire } from '../../src/http/reply.ts'
import { defer } from '../support/defer.ts'
import { findServer, head, serveKernel, type KernelOptions } from '../support/http-kernel.ts'
import { RawClient } from '../support/raw-http.ts'
import { isTlsSpoken } from '../support/secure-twin.ts'

/** What one read of a socket brings, at most. */
const READ_BYTES = 64 * 1024

const MAX_BODY = 300_000

/** An answer that has no end. */
const LIVE = route('GET', '/live', () => ({
  status: 200,
  body: { attach: (wire: Wire) => wire.write(Buffer.from('alive'), () => undefined) },
}))

describe('behind an answer that has no end', () => {
  const unfinished = 'DELETE / HTTP/1.1\r\nHost: box\r\nRange: by'
  for (const [what, bytes] of Object.entries({
    'a request that never ends': unfinished,
    'a whole one and one that never ends': head('DELETE /') + unfinished,
    'a body that never ends': head('PUT /', 'Content-Length: 5') + 'he',
  })) {
    it(`${what} ends the connection, once its client has hung up`, async (t) => {
      const client = await (await serveKernel(t, { routes: [LIVE] })).connect()
      await client.send(head('GET /live')).readUntil('alive')
      client.send(bytes).socket.end()
      assert.doesNotMatch(await client.readToEnd(), /HTTP/)
    })
  }

  it('a malformed request ends the connection', async (t) => {
    const client = await (await serveKernel(t, { routes: [LIVE] })).connect()
    await client.send(head('GET /live')).readUntil('alive')
    assert.doesNotMatch(await client.send('nonsense\r\n\r\n').readToEnd(), /HTTP/)
  })
})

describe('requests in front of one that is malformed, or never ends', () => {
  it('are answered, also those that wait for their turn, and then the connection ends', async (t) => {
    for (const last of ['nonsense\r\n\r\n', 'GET / HTTP/1.1\r\nHo']) {
      const slow = defer<Reply>()
      const { connect } = await serveKernel(t, {
        routes: [
          route('GET', '/slow', () => slow.promise),
          route('GET', '/go', () => {
            slow.resolve(text('slow'))
            return text('go')
          }),
        ],
      })
      const client = await connect()
      client.send(head('GET /slow') + head('DELETE /') + last)
      if (!last.endsWith('\n')) client.socket.end()
      // By then all of that was read.
      assert.equal((await (await connect()).send(head('GET /go')).read()).body, 'go')
      assert.equal((await client.read()).body, 'slow', last)
      const answers = await client.readToEnd()
      assert.deepEqual(answers.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 405'], last)
    }
  })
})

describe('requests that do not wait for an answer', () => {
  /** A first answer that waits, and others that count and remember. */
  async function serveSlowly(t: TestContext, options: KernelOptions = {}) {
    const slow = defer<Reply>()
    const changes: string[] = []
    let active = 0
    let mostActive = 0
    const served = await serveKernel(t, {
      ...options,
      routes: [
        route('GET', '/slow', () => slow.promise),
        route('GET', '/count', async () => {
          active += 1
          mostActive = Math.max(mostActive, active)
          await turnOfEvents()
          active -= 1
          return text(String(changes.length))
        }),
        route('GET', '/echo/{word}', ({ params }) => text(params.word)),
        route(
          'PUT',
          '/it',
          async (call) => {
            changes.push(Buffer.from(await readBytes(call, MAX_BODY)).toString('latin1'))
            return text(String(changes.length))
          },
          { maxBody: MAX_BODY },
        ),
      ],
    })
    return { ...served, slow, changes, mostActive: () => mostActive }
  }

  const put = (body: string): string => head('PUT /it', `Content-Length: ${body.length}`) + body

  it('are answered behind a body that came together with its wish for 100 Continue', async (t) => {
    const late = route(
      'PUT',
      '/late',
      async (call) => {
        // Until then the body has come, as it has when a login took its time.
        await turnOfEvents()
        return text(Buffer.from(await readBytes(call, MAX_BODY)).toString('latin1'))
      },
      { maxBody: MAX_BODY },
    )
    const client = await (await serveKernel(t, { routes: [late] })).connect()
    const expecting = head('PUT /late', 'Content-Length: 5', 'Expect: 100-continue')
    client.send(`${expecting}hello${head('GET /')}`)
    assert.equal((await client.read()).status, 100)
    assert.equal((await client.read()).body, 'hello')
    assert.equal((await client.read()).body, 'root')
  })

  for (const count of [16, 17, 100, 1000, 5000]) {
    it(`are ${count}, and all are answered in their order behind one that is slow`, async (t) => {
      const { connect, slow } = await serveSlowly(t)
      const client = await connect()
      const words = Array.from({ length: count }, (_, index) => `${index}`)
      client.send(head('GET /slow') + words.map((word) => head(`GET /echo/${word}`)).join(''))
      assert.equal((await (await connect()).send(head('GET /')).read()).body, 'root')
      slow.resolve(text('slow'))
      assert.equal((await client.read()).body, 'slow')
      for (const word of words) assert.equal((await client.read()).body, word)
      assert.equal((await client.send(head('GET /')).read()).body, 'root', 'the connection goes on')
    })
  }

  it('come in drips, again and again, and all are answered', async (t) => {
    const { connect, slow } = await serveSlowly(t)
    const client = await connect()
    slow.resolve(text('slow'))
    for (let round = 0; round < 3; round++) {
      const bytes = (head('GET /slow') + head('GET /echo/x')).repeat(100)
      for (let at = 0; at < bytes.length; at += 1471) {
        client.send(bytes.slice(at, at + 1471))
        await turnOfEvents()
      }
      for (let index = 0; index < 100; index++) {
        assert.equal((await client.read()).body, 'slow')
        assert.equal((await client.read()).body, 'x')
      }
    }
  })

  it('keep their order with those that change something, bodies of any length included', async (t) => {
    const { connect, slow, changes } = await serveSlowly(t)
    const client = await connect()
    const bodies = Array.from({ length: 120 }, (_, index) =>
      String(index).repeat(index % 40 === 39 ? MAX_BODY / 3 : 1),
    )
    client.send(head('GET /slow') + bodies.map((body) => put(body) + head('GET /count')).join(''))
    assert.equal((await (await connect()).send(head('GET /')).read()).body, 'root')
    assert.equal(changes.length, 0)
    slow.resolve(text('slow'))
    await client.read()
    for (let index = 1; index <= bodies.length; index++) {
      assert.equal((await client.read()).body, String(index))
      assert.equal((await client.read()).body, String(index), 'a GET sees what came before it')
    }
    assert.deepEqual(changes, bodies)
  })

  it('are worked on by sixteen at most, besides the one in front', async (t) => {
    const { connect, mostActive } = await serveSlowly(t)
    const client = await connect()
    client.send(head('GET /count').repeat(1000))
    for (let index = 0; index < 1000; index++) assert.equal((await client.read()).status, 200)
    assert.ok(mostActive() > 1)
    assert.ok(mostActive() <= 17, `${mostActive()} at once`)
  })

  it('stay in the network while sixteen wait, but for one read of the socket', async (t) => {
    const { connect, slow } = await serveSlowly(t)
    const client = await connect()
    const request = head('GET /echo/x')
    const taken = countRequests(t, '/echo/x')
    client.send(head('GET /slow') + request.repeat(20_000))
    // Whoever reads on has had all of it by then.
    const other = await connect()
    for (let index = 0; index < 50; index++) await other.send(head('GET /')).read()
    assert.ok(taken() >= 16)
    assert.ok(taken() <= 16 + READ_BYTES / request.length, `${taken()} were taken`)
    slow.resolve(text('slow'))
    await client.read()
    for (let index = 0; index < 20_000; index++) assert.equal((await client.read()).body, 'x')
  })

  // Encrypted, a read brings fewer, and no client of a test has sent too many.
  if (!isTlsSpoken()) {
    it('wait by the ten thousands; whoever sends still more loses the connection', async (t) => {
      const { connect, slow } = await serveSlowly(t)
      const clients = []
      const closed = defer<void>()
      const bytes = head('GET /slow') + 'GET / HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(5000)
      for (let index = 0; index < 12; index++) {
        const client = await connect()
        client.socket.once('close', () => closed.resolve())
        clients.push(client.send(bytes))
      }
      await closed.promise
      const survivors = clients.filter(({ socket }) => !socket.destroyed)
      assert.ok(survivors.length >= 4)
      slow.resolve(text('slow'))
      for (const client of survivors.slice(0, 2)) {
        for (let index = 0; index < 5001; index++) await client.read()
      }
      assert.equal((await (await connect()).send(head('GET /')).read()).body, 'root')
    })
  }

  it('are answered up to one that says `Connection: close`, and no further', async (t) => {
    const { connect, slow, changes } = await serveSlowly(t)
    const client = await connect()
    client.send(
      head('GET /slow') +
        head('GET /').repeat(50) +
        head('GET /echo/last', 'Connection: close') +
        put('late').repeat(50) +
        head('GET /').repeat(50),
    )
    slow.resolve(text('slow'))
    const answers = await client.readToEnd()
    assert.equal(answers.match(/HTTP\/1\.1 200 /g)?.length, 52)
    assert.match(answers, /\r\n\r\nlast$/)
    assert.deepEqual(changes, [])
  })

  it('lose no answer to a long body behind one that ends the connection', async (t) => {
    const big = 'y'.repeat(MAX_BODY)
    const { connect } = await serveKernel(t, { routes: [route('GET', '/big', () => text(big))] })
    const client = await connect()
    client.socket.pause()
    const answered = finished(t, 5)
    const body = `${head('PUT /nowhere', 'Content-Length: 4000000')}${'x'.repeat(4_000_000)}`
    client.send(head('GET /big').repeat(4) + head('PUT /nowhere', 'Content-Length: 1') + 'x' + body)
    await answered
    client.socket.resume()
    for (let index = 0; index < 4; index++) assert.equal((await client.read()).body, big)
    assert.equal((await client.read()).status, 404)
    assert.equal(await client.readToEnd(), '')
  })

  // Encrypted, the end comes with the read that brings the last request.
  if (!isTlsSpoken()) {
    it('are answered when the client has nothing more to say, and says so', async (t) => {
      for (const count of [16, 17, 1000]) {
        const { connect, slow } = await serveSlowly(t)
        const client = await connect()
        client.send(head('GET /slow') + head('GET /echo/x').repeat(count)).socket.end()
        assert.equal((await (await connect()).send(head('GET /')).read()).body, 'root')
        slow.resolve(text('slow'))
        const answers = await client.readToEnd()
        assert.equal(answers.match(/HTTP\/1\.1 200 /g)?.length, count + 1, `${count}`)
      }
    })
  }

  // Protocol: takes turns with the requests of other connections
  it('are begun a few in each turn, and read one connection after the other', async (t) => {
    let begun = 0
    const now = route('GET', '/now', () => text(String(++begun)))
    const { connect } = await serveKernel(t, { routes: [now] })
    const taken = countRequests(t, '/now')
    const clients = [await connect(), await connect(), await connect(), await connect()]
    const request = head('GET /now')
    const inRead = Math.ceil(READ_BYTES / request.length)
    for (const client of clients) client.send(request.repeat(3000))
    const [most, all] = [{ begun: 0, taken: 0 }, 12_000]
    while (begun < all) {
      const before = { begun, taken: taken() }
      await turnOfEvents()
      most.begun = Math.max(most.begun, begun - before.begun)
      most.taken = Math.max(most.taken, taken() - before.taken)
    }
    assert.ok(most.begun <= 2 * (4 * 16 + 32), `${most.begun} were begun in a turn`)
    assert.ok(most.taken <= 5 * inRead, `${most.taken} were read in a turn`)
    for (const client of clients) {
      for (let index = 0; index < 3000; index++) assert.equal((await client.read()).status, 200)
    }
  })

  it('are not even read behind an answer that ends the connection, but for one read', async (t) => {
    const { connect, slow } = await serveSlowly(t)
    const taken = countRequests(t, '/echo/x')
    const client = await connect()
    const request = head('GET /echo/x')
    const tooMany = 'a:\r\n'.repeat(300)
    client.send(`${head('GET /slow')}GET / HTTP/1.1\r\nHost: a\r\n${tooMany}\r\n`)
    const other = await connect()
    for (let index = 0; index < 1000; index++) {
      if (index === 500) client.send(request.repeat(20_000))
      assert.equal((await other.send(head('GET /')).read()).body, 'root')
    }
    const most = 2 * (READ_BYTES / request.length)
    assert.ok(taken() > 0 && taken() <= most, `${taken()} were read`)
    slow.resolve(text('slow'))
    assert.equal((await client.read()).body, 'slow')
    assert.equal((await client.read()).status, 431)
  })

  // The server of the twin cannot be found by its port.
  if (!isTlsSpoken()) {
    it('cost whoever has most of them a connection when too many wait', async (t) => {
      const { connect, port, slow } = await serveSlowly(t)
      const client = await connect()
      client.send(head('GET /slow'))
      const taken = countRequests(t, '/echo/x')
      let ended = 0
      let crowd = 0
      // All but the first of each connection wait, and sixteen have begun.
      const waiting = (): number => taken() - 15 * crowd
      while (waiting() < 19_800) {
        crowd += 1
        const before = taken()
        const one = await RawClient.connect(port, '127.0.0.1', '127.0.0.2')
        t.after(() => one.close())
        one.socket.on('close', () => (ended += 1))
        const count = Math.min(1000, 19_915 - waiting())
        one.send(head('GET /slow') + head('GET /echo/x').repeat(count))
        while (taken() === before) await turnOfEvents()
      }
      client.send(head('GET /echo/x').repeat(300))
      while (ended === 0) await turnOfEvents()
      slow.resolve(text('slow'))
      for (let index = 0; index < 301; index++) assert.equal((await client.read()).status, 200)
      assert.equal(ended, 1)
    })

    it('that their client leaves behind cost no stack trace each', async (t) => {
      const { connect } = await serveSlowly(t)
      const errors: Error[] = []
      const onRequest = (message: unknown): void => {
        const { request } = message as { readonly request: IncomingMessage }
        request.on('error', (error) => errors.push(error))
      }
      subscribe('http.server.request.start', onRequest)
      t.after(() => unsubscribe('http.server.request.start', onRequest))
      const taken = countRequests(t, '/echo/x')
      const client = await connect()
      client.send(head('GET /slow') + head('GET /echo/x').repeat(10))
      while (taken() < 10) await turnOfEvents()
      client.socket.destroy()
      while (errors.length === 0) await turnOfEvents()
      for (const { message, stack } of errors) assert.equal(stack, `Error: ${message}`)
      assert.match(new Error('afterwards').stack ?? '', /\n +at /)
    })

    it('are not cut off by the time-out of idle connections while they wait', async (t) => {
      const { connect, port, slow } = await serveSlowly(t)
      findServer(port).keepAliveTimeout = 1
      const client = await connect()
      client.send(head('GET /slow') + head('GET /echo/x').repeat(40))
      // Another connection, which became idle later, has been closed by then.
      const idle = await connect()
      await idle.send(head('GET /')).readToEnd()
      slow.resolve(text('slow'))
      assert.equal((await client.readToEnd()).match(/HTTP\/1\.1 200 /g)?.length, 41)
    })
  }
})

/** Counts the requests for a path that Node has parsed. */
function countRequests(t: TestContext, path: string): () => number {
  let count = 0
  const onRequest = (message: unknown): void => {
    // Documented: https://nodejs.org/api/diagnostics_channel.html#http
    if ((message as { readonly request: IncomingMessage }).request.url === path) count += 1
  }
  subscribe('http.server.request.start', onRequest)
  t.after(() => unsubscribe('http.server.request.start', onRequest))
  return () => count
}

/** Resolves when so many answers have left this program. */
function finished(t: TestContext, count: number): Promise<void> {
  const all = defer<void>()
  let left = count
  const onFinish = (): void => {
    left -= 1
    if (left === 0) all.resolve()
  }
  subscribe('http.server.response.finish', onFinish)
  t.after(() => unsubscribe('http.server.response.finish', onFinish))
  return all.promise
}
