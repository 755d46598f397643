import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { route } from '../../src/http/call.ts'
import { empty, text, type Reply, type Wire } from '../../src/http/reply.ts'
import { defer } from '../support/defer.ts'
import { head, serveKernel } from '../support/http-kernel.ts'

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
      const { connect } = await serveKernel(t, { routes: [LIVE] })
      const client = await connect()
      await client.send(head('GET /live')).readUntil('alive')
      client.send(bytes).socket.end()
      assert.doesNotMatch(await client.readToEnd(), /HTTP/)
    })
  }

  it('a malformed request ends the connection', async (t) => {
    const { connect } = await serveKernel(t, { routes: [LIVE] })
    const client = await connect()
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
          route('GET', '/go', () => (slow.resolve(text('slow')), text('go'))),
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
  it('may be sixteen, again and again', async (t) => {
    const replies = [defer<Reply>(), defer<Reply>(), defer<Reply>()]
    let started = 0
    const { connect } = await serveKernel(t, {
      routes: [route('GET', '/held', () => replies[started++]?.promise ?? empty(404))],
    })
    const client = await connect()
    for (const { resolve } of replies) {
      client.send(head('GET /held') + head('GET /').repeat(8) + head('DELETE /').repeat(8))
      resolve(text('held'))
      assert.equal((await client.read()).body, 'held')
      for (let index = 0; index < 8; index++) assert.equal((await client.read()).body, 'root')
      for (let index = 0; index < 8; index++) assert.equal((await client.read()).status, 405)
    }
  })

  it('end their connection when they are more', async (t) => {
    let served = 0
    const { connect } = await serveKernel(t, {
      routes: [
        route('GET', '/never', () => new Promise(() => {})),
        route('DELETE', '/it', () => (served += 1, empty(200))),
      ],
    })
    for (const request of [head('DELETE /it'), head('GET /')]) {
      const client = await connect()
      client.send(head('GET /never') + request.repeat(16))
      const other = await connect()
      assert.equal((await other.send(head('GET /')).read()).status, 200)
      assert.equal(client.socket.destroyed, false)
      assert.equal(await client.send(request).readToEnd(), '')
    }
    assert.equal(served, 0)
  })
})
