import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as turnOfEvents } from 'node:timers/promises'
import { route, type Call } from '../../src/http/call.ts'
import { readBytes } from '../../src/http/read-body.ts'
import { text, type Reply } from '../../src/http/reply.ts'
import { defer } from '../support/defer.ts'
import { head, serveKernel } from '../support/http-kernel.ts'
import { RawClient } from '../support/raw-http.ts'
import { isTlsSpoken } from '../support/secure-twin.ts'

const STRANGERS = 40

/** Chunks, or requests, that each of them sends; all of one fits into one read. */
const CHUNKS = 5000
const REQUESTS = 300

const PUBLIC = 'GET /public HTTP/1.1\r\nHost: box\r\n\r\n'

const ONE = PUBLIC.replace('/public', '/one')

/** How many bytes wait in the system to be read from the connections to a port. */
function waitingBytes(port: number): readonly number[] {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address, , state]) => address?.endsWith(local) === true && state === '01')
    .map(([, , , , queues = '']) => Number.parseInt(queues.split(':')[1] ?? '', 16))
}

/** A server of what strangers may ask, which counts what it has got of it. */
async function serveStrangers(t: TestContext) {
  const slow = defer<Reply>()
  let come = 0
  const echo = async (call: Call): Promise<Reply> => {
    call.request.on('data', (bytes: Buffer) => (come += bytes.length))
    return text(Buffer.from(await readBytes(call, CHUNKS)).toString('latin1'))
  }
  const served = await serveKernel(t, {
    publicRoutes: [
      route('PUT', '/echo', echo, { maxBody: CHUNKS }),
      route('GET', '/one', () => text(String(++come))),
      route('GET', '/slow', () => slow.promise),
    ],
  })
  const meet = async () => {
    const strangers = await Promise.all(Array.from({ length: STRANGERS }, served.connect))
    for (const stranger of strangers) {
      assert.equal((await stranger.send(PUBLIC).read()).status, 204)
    }
    return strangers
  }
  /** Has what `bytesOf` gives come on all connections before the event loop turns. */
  const burst = async (bytesOf: (index: number) => string, met?: readonly RawClient[]) => {
    const strangers = met ?? (await meet())
    let bytes = ''
    for (const [index, stranger] of strangers.entries()) {
      bytes = bytesOf(index)
      stranger.send(bytes)
    }
    const hasCome = (count: number): boolean => count === bytes.length
    while (waitingBytes(served.port).filter(hasCome).length < STRANGERS);
    return strangers
  }
  /** The most that came in one turn of the event loop, up to the end. */
  const mostInTurn = async (all: number): Promise<number> => {
    let most = 0
    while (come < all) {
      const before = come
      await turnOfEvents()
      most = Math.max(most, come - before)
    }
    return most
  }
  return { ...served, slow, meet, burst, mostInTurn, come: () => come }
}

const chunked = (letter: string): string =>
  `PUT /echo HTTP/1.1\r\nHost: box\r\nTransfer-Encoding: chunked\r\n\r\n${`1\r\n${letter}\r\n`.repeat(CHUNKS)}0\r\n\r\n`

// What is encrypted comes by turns anyway.
const withoutTls = {
  skip: isTlsSpoken() || process.platform !== 'linux' ? 'skipped: needs Linux, and no TLS' : false,
}

describe('what strangers send at one moment', withoutTls, () => {
  it('is read of few in a turn, and each has its own answer: bodies in tiny chunks', async (t) => {
    const { burst, mostInTurn } = await serveStrangers(t)
    const letterOf = (index: number): string => String.fromCharCode(64 + index)
    const strangers = await burst((index) => chunked(letterOf(index)))
    const most = await mostInTurn(STRANGERS * CHUNKS)
    assert.ok(most <= 4 * CHUNKS, `${most} chunks in a turn`)
    for (const [index, stranger] of strangers.entries()) {
      assert.equal((await stranger.read()).body, letterOf(index).repeat(CHUNKS))
    }
  })

  it('is read of few in a turn, and each has its own answers: requests that wait for none', async (t) => {
    const { burst } = await serveStrangers(t)
    let parsed = 0
    const onRequest = (): void => {
      parsed += 1
    }
    // Documented: https://nodejs.org/api/diagnostics_channel.html#http
    subscribe('http.server.request.start', onRequest)
    t.after(() => unsubscribe('http.server.request.start', onRequest))
    const strangers = await burst(() => ONE.repeat(REQUESTS))
    let most = 0
    while (parsed < STRANGERS * (1 + REQUESTS)) {
      const before = parsed
      await turnOfEvents()
      most = Math.max(most, parsed - before)
    }
    assert.ok(most <= (STRANGERS * REQUESTS) / 2, `${most} requests in a turn`)
    for (const stranger of strangers) {
      for (let left = REQUESTS; left > 0; left--) {
        assert.equal((await stranger.read()).status, 200)
      }
    }
  })

  it('is read of few in a turn also when others crowd another listener', async (t) => {
    const others = await (await serveStrangers(t)).meet()
    const { meet, burst, mostInTurn } = await serveStrangers(t)
    const strangers = await meet()
    for (const other of others) other.send(chunked('x'))
    await burst(() => chunked('y'), strangers)
    const most = await mostInTurn(STRANGERS * CHUNKS)
    assert.ok(most <= 4 * CHUNKS, `${most} chunks in a turn`)
  })

  it('keeps a phone that is not paired yet waiting for few of another address', async (t) => {
    const { port, meet, burst, come } = await serveStrangers(t)
    const strangers = await meet()
    const phone = await RawClient.connect(port, '127.0.0.1', '127.0.0.2')
    t.after(() => phone.close())
    await phone.send(PUBLIC).read()
    await burst(() => chunked('x'), strangers)
    await phone.send(PUBLIC).read()
    assert.ok(come() <= (STRANGERS * CHUNKS) / 4, `behind ${come()} chunks`)
  })

  it('keeps no device waiting that was there, and no new one, and ends no answer', async (t) => {
    const { connect, burst, slow } = await serveStrangers(t)
    const device = await connect()
    assert.equal((await device.send(head('GET /')).read()).body, 'root')
    const halfClosed = await connect()
    // With so many behind it, nothing more is read, and its end neither.
    halfClosed.send(PUBLIC.replace('/public', '/slow') + PUBLIC.repeat(16)).socket.end()
    const strangers = await burst(() => ONE.repeat(REQUESTS))
    const fresh = await connect()
    for (const client of [device, fresh]) {
      assert.equal((await client.send(head('GET /')).read()).body, 'root')
    }
    const { body } = await fresh.send(ONE).read()
    assert.ok(Number(body) < (STRANGERS * REQUESTS) / 2, `behind ${body} requests`)
    slow.resolve(text('slow'))
    assert.match(await halfClosed.readToEnd(), /\r\n\r\nslow(HTTP\/1.1 204 [^]+){16}$/)
    for (const stranger of strangers) stranger.close()
  })
})
