import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { route, type Route } from '../../src/http/call.ts'
import { HttpError } from '../../src/http/http-error.ts'
import { createListener } from '../../src/http/listener.ts'
import { readBytes } from '../../src/http/read-body.ts'
import { text, type Reply, type Wire } from '../../src/http/reply.ts'
import { startServer } from '../../src/http/server.ts'
import { defer } from '../support/defer.ts'
import { RawClient } from '../support/raw-http.ts'
import { MIB } from '../../src/core/limits.ts'

/** Whoever `Authorization` names is let in; `later` takes its time for that. */
async function serve(t: TestContext, routes: readonly Route<string>[] = []) {
  const later = defer<void>()
  const asked = defer<void>()
  const gone = new Set<string>()
  const listener = createListener<string>({
    publicRoutes: [],
    routes: [route('GET', '/', () => text('root')), ...routes],
    authenticate: ({ request }) => {
      const { authorization = '' } = request.headers
      if (authorization !== 'later') return authorization
      asked.resolve()
      return later.promise.then(() => authorization)
    },
    recheck: (principal) => {
      if (gone.has(principal)) throw new HttpError('UNAUTHORIZED')
    },
    nameOf: (principal) => principal,
    onFailure: ({ cause }) => assert.fail(String(cause)),
  })
  const server = await startServer({
    listener,
    host: '127.0.0.1',
    port: 0,
    maxConnections: 100,
    maxConnectionsPerAddress: 100,
  })
  t.after(() => server.stop(0))
  return {
    cut: (owner: string) => listener.cut(owner),
    /** Whoever is owed an answer gets it. */
    stop: () => server.stop(300_000),
    later,
    asked: asked.promise,
    gone,
    connect: async (): Promise<RawClient> => {
      const client = await RawClient.open(t, server.port)
      return client
    },
  }
}

function head(start: string, owner: string, ...fields: readonly string[]): string {
  return [`${start} HTTP/1.1`, 'Host: box', `Authorization: ${owner}`, ...fields, '', ''].join(
    '\r\n',
  )
}

describe('somebody who is cut', () => {
  it('loses connections that wait, send and are answered; others keep theirs', async (t) => {
    const begun = [defer<void>(), defer<void>()]
    const never = new Promise<Reply>(() => {})
    let count = 0
    const at = await serve(t, [
      route('GET', '/held', () => {
        begun[count]?.resolve()
        count += 1
        return never
      }),
      route('GET', '/live', () => ({
        status: 200,
        body: { attach: (wire: Wire) => wire.write(Buffer.from('lives'), () => undefined) },
      })),
      route('PUT', '/', async (call) => text(`${(await readBytes(call, 100)).length}`), {
        maxBody: 100,
      }),
    ])
    const open = async (owner: string) => {
      const [idle, held, live, sending] = [
        await at.connect(),
        await at.connect(),
        await at.connect(),
        await at.connect(),
      ]
      assert.equal((await idle.send(head('GET /', owner)).read()).status, 200)
      held.send(head('GET /held', owner))
      await live.send(head('GET /live', owner)).readUntil('lives\r\n')
      sending.send(head('PUT /', owner, 'Content-Length: 5', 'Expect: 100-continue'))
      assert.equal((await sending.read()).status, 100)
      return { idle, held, live, sending }
    }
    const [anne, bert] = [await open('anne'), await open('bert')]
    await Promise.all(begun.map(({ promise }) => promise))
    await at.cut('anne')
    for (const client of Object.values(anne)) {
      client.send('hello')
      assert.equal(await client.readToEnd(), '')
    }
    assert.equal((await bert.sending.send('hello').read()).body, '5')
    assert.equal((await bert.idle.send(head('GET /', 'bert')).read()).status, 200)
    assert.deepEqual([bert.held.socket.closed, bert.live.socket.closed], [false, false])
  })

  it('leaves a connection that others have used as well, unless something is owed on it', async (t) => {
    const begun = defer<void>()
    const held = defer<Reply>()
    const at = await serve(t, [
      route('GET', '/held', () => {
        begun.resolve()
        return held.promise
      }),
    ])
    const client = await at.connect()
    for (const owner of ['anne', 'bert']) {
      assert.equal((await client.send(head('GET /', owner)).read()).status, 200)
    }
    await at.cut('anne')
    await at.cut('bert')
    assert.equal((await client.send(head('GET /', 'anne')).read()).status, 200)
    client.send(head('GET /held', 'bert'))
    await begun.promise
    await at.cut('anne')
    assert.equal(client.socket.closed, false)
    await at.cut('bert')
    held.resolve(text('held'))
    assert.equal(await client.readToEnd(), '')
  })

  it('does not take the request of somebody who is only being asked who it is', async (t) => {
    const at = await serve(t)
    const client = await at.connect()
    assert.equal((await client.send(head('GET /', 'anne')).read()).status, 200)
    client.send(head('GET /', 'later'))
    await at.asked
    await at.cut('anne')
    at.later.resolve()
    assert.equal((await client.read()).status, 200)
  })

  it('is not let in when it is cut while it is asked who it is', async (t) => {
    const at = await serve(t)
    const client = await at.connect()
    client.send(head('GET /', 'later'))
    await at.asked
    at.gone.add('later')
    await at.cut('later')
    at.later.resolve()
    assert.equal((await client.read()).status, 401)
  })

  it('gets nothing behind the answer of somebody else, who gets all of it', async (t) => {
    const held = defer<Reply>()
    const at = await serve(t, [
      route('GET', '/held', () => held.promise),
      route('GET', '/secret', () => {
        asked.resolve()
        return text('secret')
      }),
      route('DELETE', '/', () => assert.fail('it came behind what was broken off')),
    ])
    const asked = defer<void>()
    const client = await at.connect()
    client.send(head('GET /held', 'bert') + head('GET /secret', 'anne') + head('DELETE /', 'bert'))
    await asked.promise
    await at.cut('anne')
    const stopped = at.stop()
    held.resolve(text('held'))
    assert.equal((await client.read()).body, 'held')
    assert.equal(await client.readToEnd(), '')
    await stopped
  })

  it('loses a long answer that it has not read', async (t) => {
    const body = Buffer.alloc(64 * MIB)
    const at = await serve(t, [
      route('GET', '/long', () => ({ status: 200, headers: ['Content-Type', 'text/plain'], body })),
    ])
    const client = await at.connect()
    client.send(head('GET /long', 'anne'))
    await client.readUntil('\r\n\r\n')
    client.socket.pause()
    await at.cut('anne')
    client.socket.resume()
    assert.ok((await client.readToEnd()).length < body.length)
  })

  it('gives back what it held in memory', async (t) => {
    const at = await serve(t, [
      route('PUT', '/', async (call) => text(`${(await readBytes(call, 16 * MIB)).length}`), {
        maxBody: 16 * MIB,
      }),
    ])
    const begin = async (owner: string): Promise<RawClient> => {
      const client = await at.connect()
      const fields = [`Content-Length: ${16 * MIB}`, 'Expect: 100-continue']
      return client.send(head('PUT /', owner, ...fields))
    }
    for (const owner of ['anne', 'carl']) {
      assert.equal((await (await begin(owner)).read()).status, 100)
    }
    assert.equal((await (await begin('bert')).read()).status, 503)
    await at.cut('anne')
    const client = await begin('bert')
    assert.equal((await client.read()).status, 100)
    assert.equal((await client.send('x'.repeat(16 * MIB)).read()).body, `${16 * MIB}`)
  })
})
