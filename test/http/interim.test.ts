import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { route } from '../../src/http/call.ts'
import { readBytes } from '../../src/http/read-body.ts'
import { text, type Reply } from '../../src/http/reply.ts'
import { defer } from '../support/defer.ts'
import { head, serveKernel } from '../support/http-kernel.ts'

/** Tells two things before its answer: whether they were sent. */
const TALKS = route('GET', '/talks', (call) => {
  const sent = [1, 2].map((n) => call.sendInterim('104 On its way', ['X-Count', String(n)]))
  return text(sent.join())
})

describe('an interim answer', () => {
  it('comes before the answer, as often as there is one', async (t) => {
    const { connect } = await serveKernel(t, { routes: [TALKS] })
    const client = (await connect()).send(head('GET /talks'))
    for (const count of ['1', '2']) {
      const { status, headers } = await client.read()
      assert.deepEqual([status, headers['x-count']], [104, count])
    }
    assert.equal((await client.read()).body, 'true,true')
    // The connection goes on.
    assert.equal((await client.send(head('GET /')).read()).body, 'root')
  })

  it('is not sent in HTTP/1.0, which does not know any', async (t) => {
    const { ask } = await serveKernel(t, { routes: [TALKS] })
    const answer = await ask('GET /talks HTTP/1.0\r\nHost: box\r\nAuthorization: yes\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
    assert.match(answer, /false,false$/)
  })

  it('is not sent behind an answer that is not complete', async (t) => {
    const slow = defer<Reply>()
    const { connect } = await serveKernel(t, {
      routes: [TALKS, route('GET', '/slow', () => slow.promise)],
    })
    const client = (await connect()).send(head('GET /slow') + head('GET /talks'))
    slow.resolve(text('slow'))
    assert.equal((await client.read()).body, 'slow')
    const next = await client.read()
    // Whether its turn has come before it was begun is up to the reads of the socket.
    assert.ok(next.status === 104 || next.body === 'false,false')
  })
})

describe('a handler that hangs up', () => {
  it('sends nothing, and the connection ends', async (t) => {
    const { connect, failures } = await serveKernel(t, {
      routes: [
        route(
          'PUT',
          '/ends',
          async (call) => {
            call.beginBody()
            call.hangUp()
            await readBytes(call, 10)
            return text('never')
          },
          { maxBody: 10 },
        ),
      ],
    })
    const client = (await connect()).send(head('PUT /ends', 'Content-Length: 5'))
    assert.equal(await client.readToEnd(), '')
    assert.deepEqual(failures, [])
  })
})
