import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { describe, it, type TestContext } from 'node:test'
import { connect } from 'node:tls'
import { route } from '../../src/http/call.ts'
import { HttpError } from '../../src/http/http-error.ts'
import { createListener } from '../../src/http/listener.ts'
import { readBytes } from '../../src/http/read-body.ts'
import { text, type Wire } from '../../src/http/reply.ts'
import { serveUpgrades } from '../../src/http/upgrade.ts'
import { makeCertificate } from '../support/certificates.ts'
import { defer } from '../support/defer.ts'
import { head, serveKernel, type KernelOptions } from '../support/http-kernel.ts'
import { listen } from '../support/listen.ts'
import { Mailbox } from '../support/mailbox.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const WEB_SOCKET = ['Connection: Upgrade', 'Upgrade: websocket'] as const
const OTHERS = ['h2c', 'TLS/1.0', 'websocket, h2c'] as const

/** A kernel with a route that turns its connection into one of another protocol. */
async function serve(t: TestContext, options: Pick<KernelOptions, 'authenticate'> = {}) {
  const wires = new Mailbox<Wire>()
  const kernel = await serveKernel(t, {
    ...options,
    routes: [
      route('GET', '/live', ({ asksForWebSocket }) => {
        if (!asksForWebSocket) throw new HttpError('BAD_REQUEST')
        const headers = ['Connection', 'Upgrade', 'Upgrade', 'websocket']
        return { status: 101, headers, body: { attach: (wire) => wires.put(wire) } }
      }),
      route('POST', '/echo', async (call) => text(`<${Buffer.from(await readBytes(call, 100))}>`), {
        maxBody: 100,
      }),
    ],
  })
  return { ...kernel, wires }
}

describe('a request that asks for a WebSocket', () => {
  it('changes the protocol of its connection, in both directions', async (t) => {
    const { connect, wires } = await serve(t)
    const client = await connect()
    client.send(`${head('GET /live', ...WEB_SOCKET)}first`)
    const wire = await wires.next()
    const came = new Mailbox<string>()
    wire.onData((chunk) => came.put(String(Buffer.from(chunk))))
    const answer = await client.readUntil('\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 101 .*\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n/s)
    assert.doesNotMatch(answer, /Transfer-Encoding|Content-Length/)
    assert.equal(await came.next(), 'first')
    client.send('GET / HTTP/1.1')
    assert.equal(await came.next(), 'GET / HTTP/1.1')
    await new Promise<void>((resolve) => wire.write(Buffer.from('hello'), resolve))
    assert.equal(await client.readUntil('hello'), 'hello')
    wire.end()
    assert.equal(await client.readToEnd(), '')
  })

  it('tells when the client has gone, and whoever waits for the server to stop', async (t) => {
    const { connect, wires, server } = await serve(t)
    for (const leave of ['end', 'resetAndDestroy'] as const) {
      const client = await connect()
      client.send(head('GET /live', ...WEB_SOCKET))
      const wire = await wires.next()
      wire.onData(() => {})
      const gone = new Promise<void>((resolve) => wire.onGone(resolve))
      client.socket[leave]()
      await gone
    }
    const client = await connect()
    client.send(head('GET /live', ...WEB_SOCKET))
    const wire = await wires.next()
    const stopped = server.stop(60_000)
    wire.end()
    await stopped
  })

  it('is answered like any other where there is no WebSocket, and ends its connection', async (t) => {
    const { ask } = await serve(t)
    const offer = WEB_SOCKET.join('\r\n')
    const behind = head('GET /')
    assert.match(
      await ask(head('GET /', ...WEB_SOCKET) + behind),
      /^HTTP\/1\.1 200 .*Connection: close.*root$/s,
    )
    assert.match(await ask(head('GET /nope', ...WEB_SOCKET) + behind), /^HTTP\/1\.1 404 .*\}$/s)
    assert.match(
      await ask(`GET /live HTTP/1.1\r\nHost: a\r\n${offer}\r\n\r\n`),
      /^HTTP\/1\.1 401 .*\}$/s,
    )
    assert.match(
      await ask(head('GET /live', 'Upgrade: websocket', 'Connection: close')),
      /^HTTP\/1\.1 400 .*\}$/s,
    )
  })

  it('changes nothing in HTTP/1.0, which has no other protocols', async (t) => {
    const { ask } = await serve(t)
    const old = (target: string) => head(target, ...WEB_SOCKET).replace('HTTP/1.1', 'HTTP/1.0')
    assert.match(await ask(old('GET /live')), /^HTTP\/1\.1 400 .*\}$/s)
    assert.match(await ask(old('GET /')), /^HTTP\/1\.1 200 .*root$/s)
  })

  it('is not served behind a request that is not answered yet', async (t) => {
    const { ask } = await serve(t)
    const unfinished = head('GET /') + head('GET /live', ...WEB_SOCKET)
    assert.match(await ask(unfinished), /^HTTP\/1\.1 200 .*root$/s)
  })

  it('asks for nothing in the name of the request before it', async (t) => {
    const { connect } = await serve(t, {
      // What is sent behind a request comes in before its login is checked.
      authenticate: async () => {
        await new Promise((resolve) => setImmediate(resolve))
        return 'owner' as const
      },
    })
    const client = await connect()
    client.send(head('GET /live') + head('GET /live', ...WEB_SOCKET))
    assert.match(await client.readUntil('\r\n\r\n'), /^HTTP\/1\.1 400 /)
  })
})

describe('a request on a server with TLS', needs('openssl'), () => {
  it('is served as on one without, whatever it asks for', async (t) => {
    const { key, cert } = await makeCertificate(await temporaryFolder(t), 'site')
    const listener = createListener<string>({
      authenticate: () => 'anybody',
      publicRoutes: [],
      routes: [
        route('GET', '/', () => text('root')),
        route('GET', '/live', () => {
          const headers = ['Connection', 'Upgrade', 'Upgrade', 'websocket']
          return { status: 101, headers, body: { attach: (wire) => wire.end() } }
        }),
      ],
      onFailure: () => {},
    })
    const server = createServer({ key, cert }, listener)
    serveUpgrades(server, listener)
    const port = await listen(t, server)
    const client = connect({ port, host: '127.0.0.1', ca: cert })
    t.after(() => client.destroy())
    client.write(head('GET /', 'Connection: Upgrade', 'Upgrade: h2c'))
    assert.match(String((await once(client, 'data'))[0]), /^HTTP\/1\.1 200 .*root$/s)
    client.write(head('GET /live', ...WEB_SOCKET))
    assert.match((await client.toArray()).join(''), /^HTTP\/1\.1 101 .*\r\n\r\n$/s)
  })
})

describe('a connection that was idle for a while', () => {
  for (const protocol of ['websocket', 'h2c']) {
    it(`has all the time that it needs once it asks for ${protocol}`, async (t) => {
      const { connect } = await serveKernel(t, {
        routes: [
          // Nothing but Node's own timer ends a connection while its request is served.
          route('GET', '/timer', ({ request }) => text(`${request.socket.timeout}`)),
        ],
      })
      const client = await connect()
      assert.equal((await client.send(head('GET /')).read()).body, 'root')
      const asking = head('GET /timer', 'Connection: Upgrade', `Upgrade: ${protocol}`)
      assert.equal((await client.send(asking).read()).body, '0')
      if (protocol === 'websocket') return
      client.send(head('GET /') + asking)
      assert.deepEqual([(await client.read()).body, (await client.read()).body], ['root', '0'])
    })
  }
})

describe('a request that asks for another protocol', () => {
  it('is served behind a long answer that its client does not read yet', async (t) => {
    const long = 'y'.repeat(4_000_000)
    const { connect, ask } = await serveKernel(t, {
      routes: [route('GET', '/long', () => text(long))],
    })
    const client = await connect()
    client.socket.pause()
    client.send(head('GET /long'))
    // By the time that somebody else is answered, what was sent before has come.
    assert.match(await ask(head('GET /', 'Connection: close')), /root$/)
    client.send(head('GET /') + head('GET /', 'Connection: Upgrade', 'Upgrade: h2c'))
    assert.match(await ask(head('GET /', 'Connection: close')), /root$/)
    client.send(head('GET /'))
    client.socket.resume()
    assert.equal((await client.read()).body, long)
    for (let answer = 0; answer < 3; answer++) assert.equal((await client.read()).body, 'root')
  })

  it('may break off behind one that is not answered yet', async (t) => {
    const held = defer<void>()
    const asked = new Mailbox<true>()
    const { connect, ask } = await serveKernel(t, {
      routes: [
        route('GET', '/held', async () => {
          asked.put(true)
          await held.promise
          return text('held')
        }),
      ],
    })
    const client = await connect()
    const closed = new Promise((resolve) => client.socket.once('close', resolve))
    client.send(head('GET /held') + head('GET /', 'Connection: Upgrade', 'Upgrade: h2c'))
    await asked.next()
    client.socket.resetAndDestroy()
    await closed
    // By the time that somebody else is answered the reset has come.
    assert.match(await ask(head('GET /', 'Connection: close')), /root$/)
    held.resolve()
    assert.match(await ask(head('GET /', 'Connection: close')), /root$/)
  })

  for (const protocol of OTHERS) {
    it(`is answered in ours when it asks for ${protocol}, with its body, again and again`, async (t) => {
      const client = await (await serve(t)).connect()
      const warnings: Error[] = []
      const note = (warning: Error) => warnings.push(warning)
      process.on('warning', note)
      t.after(() => process.off('warning', note))
      const fields = ['Connection: Upgrade, HTTP2-Settings', `Upgrade: ${protocol}`]
      for (let time = 0; time < 30; time++) {
        client.send(`${head('POST /echo', ...fields, 'Content-Length: 5')}hel`)
        assert.equal((await client.send('lo').read()).body, '<hello>')
        client.send(
          `${head('POST /echo', ...fields, 'Transfer-Encoding: chunked')}2\r\nhi\r\n0\r\n\r\n`,
        )
        assert.equal((await client.read()).body, '<hi>')
      }
      // Also behind requests that are not answered yet.
      const many = head('GET /', ...fields).repeat(100)
      client.send(many + head('GET /', 'Connection: close'))
      for (let answer = 0; answer < 101; answer++) assert.equal((await client.read()).body, 'root')
      await client.readToEnd()
      assert.deepEqual(warnings, [])
    })
  }
})
