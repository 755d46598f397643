import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MAX_LINE_LENGTH } from '../../src/client/event-stream-parser.ts'
import { openConnected, openWatched } from './support/watched.ts'

describe('a watch whose connection breaks', () => {
  // Protocol, Events: There is no replay
  it('reconnects, and gives what changed meanwhile', async (t) => {
    const { server, stream, documents, hello, retry } = await openConnected(t)
    const next = documents.next()
    stream.end()
    const { reason, retryInMs } = await retry()
    assert.deepEqual([reason, retryInMs], [undefined, 250])
    server.activate('second')
    await hello()
    assert.equal((await next).value?.text, 'second')
    await server.pulls.next()
    assert.equal((await server.pulls.next()).etag, undefined, 'unconditionally')
  })

  it('gives nothing again when nothing changed', async (t) => {
    const { server, stream, documents, states, hello, retry } = await openConnected(t)
    const next = documents.next()
    stream.response.destroy()
    assert.equal((await retry()).reason?.code, 'UNREACHABLE')
    const again = await hello()
    assert.equal((await states.next()).name, 'connected')
    server.activate('second')
    again.event('update')
    assert.equal((await next).value?.text, 'second')
  })

  it('takes 50 s without a byte for death', async (t) => {
    const { clock, states, stream, documents } = await openConnected(t)
    const next = documents.next()
    next.catch(() => undefined)
    assert.equal((await states.next()).name, 'connected')
    // As its 50 s start again with each piece that comes.
    for (let count = 0; count < 3; count++) {
      clock.advance(49_999)
      await clock.settle()
      stream.write(': ping\n\n')
      assert.equal(await clock.set.next(), 50_000)
    }
    assert.equal(states.size, 0)
    clock.advance(50_001)
    const state = await states.next()
    assert.ok(state.name === 'waiting', state.name)
    assert.equal(state.reason?.code, 'TIMEOUT')
    await stream.closed
  })

  it('waits longer after each attempt, and anew after a connection that lived', async (t) => {
    const { server, clock, stream, documents, states, hello, retry } = await openConnected(t)
    documents.next().catch(() => undefined)
    clock.chance = 0.999
    stream.end()
    const waits = [await retry()]
    for (let count = 0; count < 8; count++) {
      ;(await server.streams.next()).refuse(500)
      waits.push(await retry())
    }
    const rounded = waits.map(({ retryInMs }) => Math.ceil(retryInMs / 100) * 100)
    assert.deepEqual(rounded, [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000])

    ;(await hello()).end()
    assert.ok((await retry()).retryInMs > 29_000, 'it lived for no time')
    const lived = await hello()
    while ((await states.next()).name !== 'connected');
    clock.advance(30_000)
    lived.end()
    assert.ok((await retry()).retryInMs < 500, 'it lived')
  })

  it('waits as long as the server asks for, but not for ever', async (t) => {
    const { server, stream, documents, retry } = await openConnected(t)
    documents.next().catch(() => undefined)
    stream.end()
    assert.ok((await retry()).retryInMs < 500)
    const asked: readonly (readonly [string, number, number])[] = [
      ['7', 7000, 8000],
      [new Date(Date.now() + 60_000).toUTCString(), 55_000, 65_000],
      ['Thu, 01 Jan 1970 00:00:00 GMT', 0, 10_000],
      ['99999999999', 300_000, 330_000],
      ['soon 5', 0, 10_000],
    ]
    for (const [value, least, most] of asked) {
      ;(await server.streams.next()).refuse(503, { 'Retry-After': value })
      const { retryInMs, reason } = await retry()
      assert.deepEqual([reason?.code, reason?.status], ['REFUSED', 503])
      assert.ok(retryInMs >= least && retryInMs <= most, `${value}: ${retryInMs}`)
    }
  })

  it('reconnects when a pull fails, since a change would be lost', async (t) => {
    const { server, stream, documents, hello, retry } = await openConnected(t)
    server.onPull = (pull) => pull.refuse(503, { 'Retry-After': '1' })
    server.activate('second')
    const second = documents.next()
    stream.event('update')
    const { reason, retryInMs } = await retry()
    assert.deepEqual([reason?.status, retryInMs], [503, 1250])
    await stream.closed
    server.onPull = (pull) => pull.answer()
    await hello()
    assert.equal((await second).value?.text, 'second')
  })

  it('does not call itself connected while pulls fail', async (t) => {
    const { server, documents, states, hello } = await openWatched(t)
    server.onPull = (pull) => pull.refuse(404)
    documents.next().catch(() => undefined)
    await hello()
    const state = await states.next()
    assert.ok(state.name === 'waiting', state.name)
    assert.equal(state.reason?.code, 'NOT_FOUND')
  })

  it('leaves a document out that is too long, says so, and stays connected', async (t) => {
    const { server, documents, states, hello, next } = await openWatched(t)
    server.activate('x'.repeat(17 * 2 ** 20))
    const first = next()
    const stream = await hello()
    const state = await states.next()
    assert.ok(state.name === 'connected')
    assert.equal(state.refused?.reason, 'too long')
    server.activate('short')
    stream.event('update')
    assert.equal(await first, 'short')
    assert.deepEqual(await states.next(), { name: 'connected' })
    assert.equal(server.streams.size, 0)
    await documents.return?.()
  })

  it('gives a stream up that sends what is too long', async (t) => {
    const { stream, documents, retry } = await openConnected(t)
    documents.next().catch(() => undefined)
    stream.write('x'.repeat(MAX_LINE_LENGTH + 1))
    const { reason } = await retry()
    assert.deepEqual(
      [reason?.code, reason?.reason],
      ['BAD_ANSWER', 'a line of the event stream is too long'],
    )
    await stream.closed
  })
})
