import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ScriptedPull } from '../support/event-server.ts'
import { Mailbox } from '../support/mailbox.ts'
import { openConnected, openWatched } from './support/watched.ts'

const NO_ITEM = { type: 'Text', text: '', hasData: false, size: 0, hash: '', dataName: '' }

describe('watch()', () => {
  it('sends nothing before it is read', async (t) => {
    const { server, documents } = await openWatched(t)
    await documents.return?.()
    assert.deepEqual(await documents.next(), { done: true, value: undefined })
    assert.deepEqual([server.streams.size, server.pulls.size], [0, 0])
  })

  it('begins with the current item, pulled unconditionally at hello', async (t) => {
    const { server, documents, states } = await openWatched(t)
    const first = documents.next()
    const stream = await server.streams.next()
    assert.equal(stream.headers.accept, 'text/event-stream')
    assert.match(String(stream.headers.authorization), /^Basic /)
    assert.equal(server.pulls.size, 0, 'not before hello')
    stream.hello()
    const { value, done } = await first
    assert.deepEqual([done, value?.text, value?.etag], [false, 'first', '"1"'])
    assert.equal((await server.pulls.next()).etag, undefined)
    assert.deepEqual(await states.next(), { name: 'connected' })
  })

  it('gives each item that becomes current, at update and at resync', async (t) => {
    const { server, stream, next } = await openConnected(t)
    for (const type of ['update', 'resync', 'update']) {
      server.activate(`after ${type}`)
      stream.event(type)
      assert.equal(await next(), `after ${type}`)
    }
    await server.pulls.next()
    assert.equal((await server.pulls.next()).etag, '"1"', 'it asks for another one only')
  })

  it('reads over comments, and events that it does not know', async (t) => {
    const { server, stream, next } = await openConnected(t)
    stream.write(': ping\n\n').event('gossip').write('data: {}\n\n')
    server.activate('second')
    stream.event('update')
    assert.equal(await next(), 'second')
    assert.equal(server.pulls.size, 2)
  })

  it('pulls once more when events come during a pull, however many', async (t) => {
    const { server, stream, documents, clock } = await openConnected(t)
    const held = new Mailbox<ScriptedPull>()
    server.onPull = (pull) => held.put(pull)
    server.activate('second')
    const second = documents.next()
    stream.event('update')
    const pull = await held.next()
    await clock.settle()
    stream.write('event: update\ndata: {}\n\n'.repeat(5))
    assert.equal(await clock.set.next(), 50_000, 'they were read')
    pull.answer()
    assert.equal((await second).value?.text, 'second')
    const further = await held.next()
    server.activate('third')
    further.answer()
    assert.equal((await documents.next()).value?.text, 'third')
    assert.equal(held.size, 0)
  })

  it('gives those who read late the newest item only', async (t) => {
    const { server, stream, documents, next } = await openConnected(t)
    await server.pulls.next()
    for (const text of ['second', 'third', 'fourth']) {
      server.activate(text)
      stream.event('update')
      await (await server.pulls.next()).closed
    }
    server.activate('fifth')
    stream.event('update')
    const pull = await server.pulls.next()
    await pull.closed
    const seen = [await next()]
    // Whatever was read last may still have been on its way.
    while (seen.at(-1) !== 'fifth') seen.push((await documents.next()).value?.text)
    assert.ok(seen.length <= 2, seen.join())
  })

  it('gives an item that was activated again again, and an activation once', async (t) => {
    const { server, stream, documents } = await openConnected(t)
    stream.event('update').event('resync')
    server.activate('first')
    stream.event('update')
    const { value } = await documents.next()
    assert.deepEqual([value?.text, value?.etag], ['first', '"2"'])
    server.activate('second')
    stream.event('update')
    assert.equal((await documents.next()).value?.text, 'second')
  })

  it('compares documents of servers without entity tags', async (t) => {
    const { server, stream, documents } = await openConnected(t)
    await server.pulls.next()
    const changes = [
      { text: 'b' },
      { type: 'File' },
      { hash: 'aa' },
      { size: 6 },
      { dataName: 'n' },
    ]
    for (const change of changes) {
      server.activateDocument({ ...server.document, ...change, contentId: undefined })
      server.etag = undefined
      stream.event('update')
      const { value } = await documents.next()
      assert.deepEqual({ ...value, ...change }, value)
      await server.pulls.next()
      stream.event('resync')
      await server.pulls.next()
    }
  })

  it('does not send a malformed entity tag back', async (t) => {
    const { server, stream, next } = await openConnected(t)
    server.activate('second')
    server.etag = 'second'
    stream.event('update')
    assert.equal(await next(), 'second')
    server.activate('third')
    stream.event('update')
    assert.equal(await next(), 'third')
  })

  it('says nothing while there is no item', async (t) => {
    const { server, states, documents, hello } = await openWatched(t)
    server.activateDocument(NO_ITEM)
    const first = documents.next()
    const stream = await hello()
    assert.equal((await states.next()).name, 'connected')
    server.activate('something')
    stream.event('update')
    assert.equal((await first).value?.text, 'something')
  })
})
