import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openConnected, openWatched } from './support/watched.ts'

describe('a watch that cannot go on', () => {
  it('ends with an error when the credentials are gone', async (t) => {
    const expected = { name: 'ClientError', code: 'UNAUTHORIZED', status: 401 }
    const never = await openWatched(t)
    const first = never.documents.next()
    ;(await never.server.streams.next()).refuse(401)
    await assert.rejects(first, expected)
    assert.deepEqual(await never.documents.next(), { done: true, value: undefined })

    const rotated = await openConnected(t)
    const next = rotated.documents.next()
    rotated.stream.end()
    await rotated.retry()
    ;(await rotated.server.streams.next()).refuse(401)
    await assert.rejects(next, expected)

    const between = await openConnected(t)
    between.server.onPull = (pull) => pull.refuse(401)
    between.stream.event('update')
    await assert.rejects(between.documents.next(), expected)
    await between.stream.closed
    for (const { clock, server } of [never, rotated, between]) {
      assert.deepEqual([clock.pending, server.streams.size], [0, 0])
    }
  })

  it('gives what it had pulled before the error', async (t) => {
    const { server, stream, states, next, documents, retry } = await openConnected(t)
    await states.next()
    server.activate('second')
    stream.event('update')
    await server.pulls.next()
    await (await server.pulls.next()).closed
    stream.end()
    await retry()
    ;(await server.streams.next()).refuse(401)
    assert.equal(await next(), 'second')
    await assert.rejects(documents.next(), { code: 'UNAUTHORIZED' })
  })

  it('ends with what its listener throws', async (t) => {
    const error = new Error('a bug of the caller')
    const fail = (): never => {
      throw error
    }
    const { documents, hello, clock } = await openWatched(t, { onState: fail })
    const first = documents.next()
    const stream = await hello()
    await assert.rejects(async () => [await first, await documents.next()], error)
    await stream.closed
    assert.equal(clock.pending, 0)
  })
})

describe('a watch that is aborted', () => {
  const reason = new Error('Changed my mind')

  it('sends nothing when it was before', async (t) => {
    const signal = AbortSignal.abort(reason)
    const { server, documents, clock } = await openWatched(t, { signal })
    await assert.rejects(documents.next(), reason)
    assert.deepEqual([server.streams.size, server.pulls.size, clock.pending], [0, 0, 0])
  })

  it('ends at once while it listens', async (t) => {
    const { stream, documents, controller, clock } = await openConnected(t)
    const next = documents.next()
    controller.abort(reason)
    await assert.rejects(next, reason)
    await stream.closed
    assert.equal(clock.pending, 0)
    assert.deepEqual(await documents.next(), { done: true, value: undefined })
  })

  it('ends at once while it connects', async (t) => {
    const { server, documents, controller, clock } = await openWatched(t)
    const next = documents.next()
    const stream = await server.streams.next()
    controller.abort(reason)
    await assert.rejects(next, reason)
    await stream.closed
    assert.equal(clock.pending, 0)
  })

  it('ends at once while it pulls', async (t) => {
    const { server, documents, controller, clock, hello } = await openWatched(t)
    server.onPull = () => undefined
    const next = documents.next()
    const stream = await hello()
    const pull = await server.pulls.next()
    controller.abort(reason)
    await assert.rejects(next, reason)
    await Promise.all([stream.closed, pull.closed])
    assert.equal(clock.pending, 0)
  })

  for (const [status, name] of [
    [500, 'waiting'],
    [404, 'polling'],
  ] as const) {
    it(`ends at once while it is ${name}`, async (t) => {
      const { server, documents, controller, clock, states } = await openWatched(t)
      const first = documents.next()
      ;(await server.streams.next()).refuse(status)
      assert.equal((await states.next()).name, name)
      controller.abort(reason)
      await assert.rejects(async () => [await first, await documents.next()], reason)
      assert.equal(clock.pending, 0)
    })
  }

  it('ends when its listener aborts it', async (t) => {
    const stop = new AbortController()
    const onState = (): void => stop.abort(reason)
    const { server, documents, clock } = await openWatched(t, { signal: stop.signal, onState })
    const first = documents.next()
    ;(await server.streams.next()).refuse(500)
    await assert.rejects(first, reason)
    assert.equal(clock.pending, 0)
  })

  it('ends at once while nobody reads it, and gives nothing more', async (t) => {
    const { server, stream, documents, controller, clock } = await openConnected(t)
    await server.pulls.next()
    server.activate('second')
    stream.event('update')
    await (await server.pulls.next()).closed
    controller.abort(reason)
    await stream.closed
    await assert.rejects(documents.next(), reason)
    assert.equal(clock.pending, 0)
  })
})

describe('a watch that nobody wants to read any more', () => {
  it('leaves nothing open when its reader breaks out of the loop', async (t) => {
    const { signal } = new AbortController()
    const listeners = new Set<unknown>()
    signal.addEventListener = (_: string, added: unknown) => void listeners.add(added)
    signal.removeEventListener = (_: string, gone: unknown) => void listeners.delete(gone)
    const { server, documents, hello, clock } = await openWatched(t, { signal })
    const stream = hello()
    for await (const { text } of documents) {
      assert.equal(text, 'first')
      assert.equal(listeners.size, 1)
      break
    }
    await (await stream).closed
    assert.deepEqual([clock.pending, listeners.size, server.streams.size], [0, 0, 0])
  })

  it('leaves nothing open when its reader throws', async (t) => {
    const { documents, hello, clock } = await openWatched(t)
    const stream = hello()
    await assert.rejects(async () => {
      for await (const { text } of documents) throw new Error(text)
    }, /first/)
    await (await stream).closed
    assert.equal(clock.pending, 0)
  })

  it('ends while its reader waits', async (t) => {
    const { stream, documents, clock } = await openConnected(t)
    const next = documents.next()
    assert.deepEqual(await documents.return?.(), { done: true, value: undefined })
    assert.deepEqual(await next, { done: true, value: undefined })
    await stream.closed
    assert.equal(clock.pending, 0)
  })
})
