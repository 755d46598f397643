import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it, type TestContext } from 'node:test'
import { openEvents, type EventReader } from '../support/event-reader.ts'
import { serveGateway, type ServeGatewayOptions } from '../support/gateway.ts'
import { RawClient } from '../support/raw-http.ts'

async function serve(t: TestContext, options: ServeGatewayOptions = {}) {
  const served = await serveGateway(t, options)
  return {
    ...served,
    /** Opens a stream, and reads its hello. */
    listen: async (authorization = served.authorization): Promise<EventReader> => {
      const reader = await openEvents(t, served.url, authorization)
      const hello = await reader.next()
      assert.deepEqual(hello, { event: 'hello', data: { server_time_ms: served.clock.now() } })
      return reader
    },
  }
}

describe('GET /api/sse/clipboard', () => {
  // Protocol: The gateway subscribes first and says `hello` then
  // Protocol: `Cache-Control: no-cache, no-transform`
  // Protocol, Events: `hello`
  it('says hello at once, in a stream that no proxy keeps or changes', async (t) => {
    const { listen } = await serve(t)
    const { headers, statusCode } = (await listen()).response
    assert.equal(statusCode, 200)
    assert.equal(headers['content-type'], 'text/event-stream')
    assert.equal(headers['cache-control'], 'no-cache, no-transform')
    assert.equal(headers['x-accel-buffering'], 'no')
    assert.equal(headers['x-content-type-options'], 'nosniff')
  })

  it('goes through the host, where that has replaced what writes an answer', async (t) => {
    const { server, url, authorization, phone } = await serve(t)
    server.prependListener('request', (_request, response) => {
      const { write } = response
      // As many do, it knows of no callback, and tells nothing.
      Reflect.set(response, 'write', (chunk: unknown) => {
        const changed = String(chunk).replace('event: ', 'event: host')
        Reflect.apply(write, response, [changed])
      })
    })
    const reader = await openEvents(t, url, authorization)
    await phone.pushText('one')
    await phone.pushText('two')
    const frames = [await reader.next(), await reader.next(), await reader.next()]
    const told = frames.map((frame) => frame !== undefined && 'event' in frame && frame.event)
    assert.deepEqual(told, ['hosthello', 'hostupdate', 'hostupdate'])
  })

  // Protocol: The device that pushed gets its own `update`
  // Protocol: `update`
  it('tells every device of each activation, the pushing one too, with its time', async (t) => {
    const { listen, phone, addPhone, clock } = await serve(t)
    const other = await addPhone()
    const readers = [await listen(), await listen(other.authorization)]
    const activatedAt = clock.now()
    await phone.pushText('hello')
    clock.advance(5000)
    const { contentId } = await phone.document()
    for (const reader of readers) {
      const data = { content_id: contentId, server_time_ms: activatedAt }
      assert.deepEqual(await reader.next(), { event: 'update', data })
    }
    await phone.pushText('hello')
    for (const reader of readers) {
      const data = { content_id: contentId, server_time_ms: clock.now() }
      assert.deepEqual(await reader.next(), { event: 'update', data }, 'activated again')
    }
  })

  it('says to look when the computer is paused or goes on, and for no other change there', async (t) => {
    const { listen, phone, changeComputer } = await serve(t)
    const reader = await listen()
    for (const isPaused of [false, true, true, false]) changeComputer({ isPaused })
    await phone.pushText('then')
    const frames = [await reader.next(), await reader.next(), await reader.next()]
    const told = frames.map((frame) => frame !== undefined && 'event' in frame && frame.event)
    assert.deepEqual(told, ['resync', 'resync', 'update'])
  })

  // Protocol: `resync`
  it('says with the time when it has left signals out', async (t) => {
    const { listen, changes, clock } = await serve(t)
    const reader = await listen()
    // In one tick, in which nobody reads: more than the system takes, so that one waits, and others
    // take its place.
    for (let activatedAt = 1; activatedAt <= 300; activatedAt++) {
      changes.publish({ contentId: `blake3v1:${'0'.repeat(100_000)}`, activatedAt })
    }
    const times: unknown[] = []
    let frame = await reader.next()
    while (frame !== undefined && 'event' in frame && frame.event === 'update') {
      times.push(frame.data['server_time_ms'])
      frame = await reader.next()
    }
    assert.deepEqual(frame, { event: 'resync', data: { server_time_ms: clock.now() } })
    assert.equal(times.at(-1), 300)
    assert.ok(times.length < 300)
  })

  it('says nothing of what is refused or changes nothing', async (t) => {
    const { listen, phone } = await serve(t)
    const reader = await listen()
    const push = (body: unknown) =>
      phone.fetch('/Sync.json', { method: 'PUT', body: JSON.stringify(body) })
    await push({ type: 'Text', text: '' })
    await push({ type: 'File', dataName: 'nothing' })
    await phone.fetch('/file/staged', { method: 'PUT', body: 'x' })
    await push({ type: 'Text', text: 'something' })
    const { contentId } = await phone.document()
    const frame = await reader.next()
    assert.equal(frame !== undefined && 'event' in frame && frame.data['content_id'], contentId)
  })

  // Protocol: The comment `: ping` every 25 s
  it('pings every 25 seconds, from one timer that rests while nobody listens', async (t) => {
    const { listen, addPhone, clock } = await serve(t)
    assert.equal(clock.pending, 0)
    const [first, second] = [await listen(), await listen((await addPhone()).authorization)]
    assert.equal(clock.pending, 1)
    for (const beat of [1, 2]) {
      clock.advance(25_000)
      for (const reader of [first, second])
        assert.deepEqual(await reader.next(), { comment: 'ping' }, `${beat}`)
    }
    assert.equal(clock.pending, 1)
  })

  // Protocol: Two streams for each device
  it('keeps two streams of a device: a third ends its oldest, and no other', async (t) => {
    const { listen, addPhone, gateway, device, phone } = await serve(t)
    const other = await listen((await addPhone()).authorization)
    const [first, second] = [await listen(), await listen()]
    assert.equal(gateway.countStreams(device.id), 2)
    const third = await listen()
    assert.deepEqual(await first.rest(), [{ comment: 'replaced' }])
    assert.equal(gateway.countStreams(device.id), 2)
    await phone.pushText('hello')
    for (const reader of [second, third, other]) {
      const frame = await reader.next()
      assert.equal(frame !== undefined && 'event' in frame && frame.event, 'update')
    }
  })

  it('tells who asks whenever their number changes', async (t) => {
    const { listen, gateway, device, devices } = await serve(t)
    const counts: number[] = []
    const stop = gateway.onStreams(() => counts.push(gateway.countStreams(device.id)))
    await listen()
    await listen()
    await devices.rotate(device.id)
    assert.deepEqual(counts, [1, 2, 0])
    stop()
    gateway.closeStreams()
    assert.equal(counts.length, 3)
  })

  it('forgets a stream whose client has left', async (t) => {
    const { listen, gateway, device, clock, server } = await serve(t)
    const connected = once(server, 'connection')
    const reader = await listen()
    const [socket] = await connected
    assert.equal(gateway.countStreams(device.id), 1)
    const closed = once(socket, 'close')
    reader.close()
    await closed
    assert.equal(gateway.countStreams(device.id), 0)
    assert.equal(clock.pending, 0)
  })

  for (const change of ['rotate', 'revoke'] as const) {
    // Protocol: Rotation and revocation end the device's streams
    it(`ends the streams of a device before ${change} returns, and no others`, async (t) => {
      const { listen, addPhone, devices, device, gateway, phone } = await serve(t)
      const spectator = await addPhone()
      const others = await listen(spectator.authorization)
      const readers = [await listen(), await listen()]
      await devices[change](device.id)
      assert.equal(gateway.countStreams(device.id), 0)
      for (const reader of readers) assert.deepEqual(await reader.rest(), [])
      await spectator.pushText('still here')
      assert.notEqual(await others.next(), undefined)
      assert.equal((await phone.fetch('/api/sse/clipboard')).status, 401)
    })
  }

  it('ends all streams when the gateway goes, and opens none after that', async (t) => {
    const { listen, gateway, authorization, url, clock } = await serve(t)
    const reader = await listen()
    gateway.closeStreams()
    assert.deepEqual(await reader.rest(), [])
    assert.deepEqual(await (await openEvents(t, url, authorization)).rest(), [])
    assert.equal(clock.pending, 0)
  })

  it('answers HEAD with the headers, and opens nothing', async (t) => {
    const { phone, gateway, device, clock } = await serve(t)
    const response = await phone.fetch('/api/sse/clipboard', { method: 'HEAD' })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    assert.equal(gateway.countStreams(device.id), 0)
    assert.equal(clock.pending, 0)
  })

  it('leaves the connection usable after an end', async (t) => {
    const { port, authorization, gateway } = await serve(t)
    const client = await RawClient.open(t, port)
    const request = (path: string) =>
      `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`
    client.send(request('/api/sse/clipboard'))
    assert.match(await client.readUntil('\n\n\r\n'), /event: hello/)
    gateway.closeStreams()
    assert.equal(await client.readUntil('\r\n\r\n'), '0\r\n\r\n')
    client.send(request('/'))
    assert.equal((await client.read()).body, 'Server is running.')
  })

  it('serves HTTP/1.0 as well, in which a stream ends with its connection', async (t) => {
    const { port, authorization, gateway } = await serve(t)
    const client = await RawClient.open(t, port)
    client.send(`GET /api/sse/clipboard HTTP/1.0\r\nAuthorization: ${authorization}\r\n\r\n`)
    assert.doesNotMatch(await client.readUntil('\r\n\r\n'), /transfer-encoding/i)
    assert.match(await client.readUntil('\n\n'), /^event: hello\ndata: /)
    gateway.closeStreams()
    assert.equal(await client.readToEnd(), '')
  })
})
