import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openWatched, TIMEOUT_MS } from './support/watched.ts'

describe('a watch of a server without an event stream', () => {
  // Protocol: Servers without it answer 404
  it('polls the document, conditionally', async (t) => {
    const { server, clock, states, documents, next } = await openWatched(t)
    const first = documents.next()
    ;(await server.streams.next()).refuse(404)
    assert.equal((await first).value?.text, 'first')
    const state = await states.next()
    assert.ok(state.name === 'polling', state.name)
    assert.equal(state.reason.code, 'NOT_FOUND')

    await server.pulls.next()
    clock.advance(10_000)
    const poll = await server.pulls.next()
    assert.equal(poll.etag, '"1"')
    assert.equal(poll.response.statusCode, 304)
    server.activate('second')
    const second = next()
    await poll.closed
    clock.advance(10_000)
    assert.equal(await second, 'second')
  })

  it('tries the stream again after ten minutes', async (t) => {
    const { server, clock, states, documents, hello } = await openWatched(t)
    documents.next().catch(() => undefined)
    ;(await server.streams.next()).refuse(404)
    for (let minute = 0; minute < 10; minute++) {
      assert.equal(server.streams.size, 0)
      for (let poll = 0; poll < 6; poll++) {
        await (await server.pulls.next()).closed
        while ((await clock.set.next()) !== 10_000);
        clock.advance(10_000)
      }
    }
    await hello()
    assert.equal((await states.next()).name, 'polling')
    assert.equal((await states.next()).name, 'connected')
  })

  it('does the same for a page of a proxy, or an answer without a body', async (t) => {
    const answers: readonly (readonly [number, string])[] = [
      [200, 'text/html'],
      [204, 'text/event-stream'],
      [200, 'text/event-streams'],
    ]
    for (const [status, type] of answers) {
      const { server, states, documents } = await openWatched(t)
      const first = documents.next()
      ;(await server.streams.next()).refuse(status, { 'Content-Type': type })
      assert.equal((await first).value?.text, 'first')
      const state = await states.next()
      assert.ok(state.name === 'polling', state.name)
      assert.equal(state.reason.reason, 'no event stream')
    }
  })

  it('does the same for a proxy that keeps the events to itself', async (t) => {
    const { server, clock, states, documents } = await openWatched(t)
    const first = documents.next()
    const stream = await server.streams.next()
    stream.response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders()
    // One for the answer, and one for its first bytes.
    assert.deepEqual([await clock.set.next(), await clock.set.next()], [TIMEOUT_MS, TIMEOUT_MS])
    clock.advance(TIMEOUT_MS)
    assert.equal((await first).value?.text, 'first')
    const state = await states.next()
    assert.ok(state.name === 'polling', state.name)
    assert.equal(state.reason.code, 'TIMEOUT')
    await stream.closed
  })

  it('reconnects when a poll fails', async (t) => {
    const { server, documents, hello, retry } = await openWatched(t)
    server.onPull = (pull) => pull.refuse(502)
    const first = documents.next()
    ;(await server.streams.next()).refuse(404)
    assert.equal((await retry()).reason?.status, 502)
    server.onPull = (pull) => pull.answer()
    await hello()
    assert.equal((await first).value?.text, 'first')
  })
})
