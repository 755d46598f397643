import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter, once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as turnOfEvents } from 'node:timers/promises'
import { HeldBytes } from '../../src/http/held-bytes.ts'
import { route } from '../../src/http/call.ts'
import { BODY_IDLE_MS, readBytes, skipBody, StreamedBody } from '../../src/http/read-body.ts'
import { text } from '../../src/http/reply.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { head, serveKernel } from '../support/http-kernel.ts'
import type { RawClient } from '../support/raw-http.ts'
import { MIB } from '../../src/core/limits.ts'

const OVERLOADED = { code: 'OVERLOADED', status: 503 }

describe('what requests keep in memory', () => {
  it('is two of the longest documents', () => {
    const held = new HeldBytes()
    const [giveBack] = ['a', 'b'].map((client) => held.reserve(client, 16 * MIB))
    assert.throws(() => held.reserve('c', 100_000), OVERLOADED)
    giveBack?.()
    // Twice is fine.
    giveBack?.()
    held.reserve('c', 100_000)
  })

  it('is one of the longest documents of one client', () => {
    const held = new HeldBytes()
    const giveBack = held.reserve('a', 10 * MIB)
    assert.throws(() => held.reserve('a', 7 * MIB), OVERLOADED)
    held.reserve('a', 6 * MIB)
    held.reserve('b', 16 * MIB)
    giveBack()
    held.reserve('a', 10 * MIB)
  })

  it('may be more than one client gets, when it keeps nothing else', () => {
    const held = new HeldBytes()
    held.reserve('a', 100 * MIB)
    assert.throws(() => held.reserve('a', 1), OVERLOADED)
    held.reserve('b', 1)
  })
})

describe('what is held for a client that has left', () => {
  it('is given back', async (t) => {
    const events = new EventEmitter()
    const leave = route('PUT', '/leave', async (call) => {
      events.emit('here')
      await once(call.signal, 'abort')
      call.holdBytes(16 * MIB, 16 * MIB)
      setImmediate(() => events.emit('answered'))
      return text('to nobody')
    })
    const take = route(
      'PUT',
      '/take',
      async (call) => text(`${(await readBytes(call, 16 * MIB)).length}`),
      { maxBody: 16 * MIB },
    )
    const { connect } = await serveKernel(t, { routes: [leave, take] })
    const left = await connect()
    const here = once(events, 'here')
    left.send(head('PUT /leave', 'Content-Length: 0'))
    await here
    const answered = once(events, 'answered')
    left.socket.destroy()
    await answered
    const long = head('PUT /take', `Content-Length: ${16 * MIB}`, 'Expect: 100-continue')
    assert.equal((await (await connect()).send(long).read()).status, 100)
  })
})

describe('a long body', () => {
  it('is refused before a byte of it while others are read, and taken after them', async (t) => {
    const limit = 16 * MIB
    const take = route(
      'PUT',
      '/take',
      async (call) => text(`${(await readBytes(call, limit)).length}`),
      { maxBody: limit },
    )
    let client = 'a'
    const nameOf = (): string => client
    const { connect } = await serveKernel(t, { routes: [take], nameOf })
    const long = head('PUT /take', `Content-Length: ${limit}`, 'Expect: 100-continue')
    const open = [await connect(), await connect()]
    for (const [index, connection] of open.entries()) {
      client = ['a', 'b'][index] ?? ''
      assert.equal((await connection.send(long).read()).status, 100)
      // Its own share is used up, and nobody else's.
      assert.equal((await (await connect()).send(long).read()).status, 503)
    }
    client = 'c'
    const chunked = head('PUT /take', 'Transfer-Encoding: chunked')
    const refusals = [long, `${chunked}20000\r\n${'x'.repeat(0x20000)}\r\n`]
    for (const bytes of refusals) {
      const answer = await (await connect()).send(bytes).read()
      assert.equal(answer.status, 503)
      assert.equal(answer.headers['retry-after'], '1')
    }
    // Any number of short ones get through; a chunked one that is longer gets in as a whole.
    const short = `${chunked}4000\r\n${'x'.repeat(16_384)}\r\n`
    for (const rest of ['0\r\n\r\n', '1\r\nx\r\n0\r\n\r\n']) {
      const { status } = await (await connect()).send(`${short}${rest}`).read()
      assert.equal(status, rest.startsWith('0') ? 200 : 503)
    }

    // One leaves, and one is answered.
    const [left, stays] = open
    left?.socket.end()
    assert.equal((await left?.read())?.status, 400)
    stays?.send('x'.repeat(limit))
    assert.equal((await stays?.read())?.body, `${limit}`)
    for (let round = 0; round < 3; round++) {
      const connection = await connect()
      assert.equal((await connection.send(long).read()).status, 100)
      assert.equal((await connection.send('x'.repeat(limit)).read()).body, `${limit}`)
    }
  })
})

describe('bodies that are read as they come', () => {
  it('are as many of one client as are left for others, and keep no document away', async (t) => {
    const limit = 16 * MIB
    const upload = route(
      'PUT',
      '/upload',
      async (call) => {
        await skipBody(call, limit)
        return text('all')
      },
      { maxBody: limit },
    )
    const document = route(
      'PUT',
      '/document',
      async (call) => text(`${(await readBytes(call, limit)).length}`),
      { maxBody: limit },
    )
    let client = 'a'
    const nameOf = (): string => client
    const room = { maxConnections: 1000, maxConnectionsPerAddress: 1000 }
    const routes = [upload, document]
    const { connect } = await serveKernel(t, { routes, nameOf, ...room })
    const fields = [`Content-Length: ${limit}`, 'Expect: 100-continue']
    const begin = async (path = '/upload') => {
      const connection = await connect()
      return { connection, ...(await connection.send(head(`PUT ${path}`, ...fields)).read()) }
    }
    let first: RawClient | undefined
    // However many there are of others, the next one who comes has some.
    for (const [index, count] of [256, 128, 64, 32, 16, 8, 4, 2, 1].entries()) {
      client = `${index}`
      const all = await Promise.all(Array.from({ length: count }, () => begin()))
      for (const { status } of all) assert.equal(status, 100)
      first ??= all[0]?.connection
      const { status, headers } = await begin()
      assert.deepEqual([status, headers['retry-after']], [503, '1'])
      assert.equal((await begin('/document')).status, index < 2 ? 100 : 503)
    }
    // Whoever has left makes room.
    first?.socket.end()
    assert.equal((await first?.read())?.status, 400)
    assert.equal((await begin()).status, 100)
    assert.equal((await begin()).status, 503)
  })

  it('are counted no longer than their requests, also where a reader has left one open', async (t) => {
    const leave = route(
      'PUT',
      '/leave',
      async (call) => {
        await new StreamedBody(call, MIB)[Symbol.asyncIterator]().next()
        return text('left')
      },
      { maxBody: MIB },
    )
    const clock = new FakeClock()
    const { connect } = await serveKernel(t, { routes: [leave], clock })
    const connection = await connect()
    for (let count = 0; count <= 256; count++) {
      const upload = `${head('PUT /leave', 'Content-Length: 1')}x`
      const { status } = await connection.send(upload).read()
      assert.equal(status, 200, `after ${count}`)
    }
    clock.advance(BODY_IDLE_MS)
    await turnOfEvents()
    assert.ok(clock.pending < 10, `${clock.pending} timers`)
  })

  it('are counted no longer than their requests, also where a client has left before', async (t) => {
    const events = new EventEmitter()
    const late = route(
      'PUT',
      '/late',
      async (call) => {
        events.emit('here')
        await once(call.signal, 'abort')
        await skipBody(call, MIB).catch(() => undefined)
        setImmediate(() => events.emit('answered'))
        return text('to nobody')
      },
      { maxBody: MIB },
    )
    const upload = route(
      'PUT',
      '/upload',
      async (call) => {
        await skipBody(call, MIB)
        return text('all')
      },
      { maxBody: MIB },
    )
    const { connect } = await serveKernel(t, { routes: [late, upload] })
    for (let count = 0; count < 256; count++) {
      const left = await connect()
      const here = once(events, 'here')
      left.send(head('PUT /late', 'Content-Length: 10'))
      await here
      const answered = once(events, 'answered')
      left.socket.destroy()
      await answered
    }
    const client = await connect()
    const { status } = await client.send(`${head('PUT /upload', 'Content-Length: 1')}x`).read()
    assert.equal(status, 200)
  })
})

describe('a body that nobody reads yet stays in the network but for a little', () => {
  const length = 500_000
  const chunked = head('PUT /take', 'Transfer-Encoding: chunked')
  const short = '1\r\nx\r\n'
  const inOnePiece = (bytes: number): string =>
    head('PUT /take', `Content-Length: ${bytes}`) + 'x'.repeat(bytes)

  for (const [what, { sent, bodies }] of Object.entries({
    'in one piece': { sent: [inOnePiece(length)], bodies: [length] },
    'in chunks of one byte': {
      sent: [`${chunked}${short.repeat(length)}0\r\n\r\n`],
      bodies: [length],
    },
    'in chunks of one byte, a few at a time': {
      sent: [chunked, ...new Array<string>(5000).fill(short.repeat(100)), '0\r\n\r\n'],
      bodies: [length],
    },
    'behind another one, which came with it': {
      sent: [inOnePiece(30_000) + inOnePiece(length)],
      bodies: [30_000, length],
    },
  })) {
    it(`${what}, and is read in the end`, async (t) => {
      const longest = watchBodies(t)
      const take = route(
        'PUT',
        '/take',
        async (call) => {
          for (let turn = 0; turn < 10_000; turn++) {
            await turnOfEvents()
            longest.look()
          }
          return text(`${(await readBytes(call, length)).length}`)
        },
        { maxBody: length },
      )
      const { connect } = await serveKernel(t, { routes: [take] })
      const client = await connect()
      for (const bytes of sent) {
        client.send(bytes)
        await turnOfEvents()
      }
      for (const body of bodies) assert.equal((await client.read()).body, `${body}`)
      // Node asks for no more behind 64 KiB, and a read brings as many.
      assert.ok(longest.bytes <= 128 * 1024, `${longest.bytes} bytes`)
    })
  }
})

/** How much of a body has waited for its reader. */
function watchBodies(t: TestContext) {
  const requests: IncomingMessage[] = []
  const onRequest = (message: unknown): void => {
    requests.push((message as { readonly request: IncomingMessage }).request)
  }
  subscribe('http.server.request.start', onRequest)
  t.after(() => unsubscribe('http.server.request.start', onRequest))
  return {
    bytes: 0,
    look(): void {
      this.bytes = Math.max(this.bytes, ...requests.map(({ readableLength }) => readableLength))
    },
  }
}
