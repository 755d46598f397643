import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect as connectTcp } from 'node:net'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { setImmediate as tick } from 'node:timers/promises'
import {
  connect as connectTls,
  createSecureContext,
  type ConnectionOptions,
  type TLSSocket,
} from 'node:tls'
import { describe, it, type TestContext } from 'node:test'
import { MIB } from '../../src/core/limits.ts'
import { route } from '../../src/http/call.ts'
import { HEADER_MS } from '../../src/http/connection-table.ts'
import { StreamedBody } from '../../src/http/read-body.ts'
import { empty, text } from '../../src/http/reply.ts'
import { startServer } from '../../src/http/server.ts'
import { createIdentity } from '../../src/tls/identity.ts'
import { makeCertificate, type TestCertificate } from '../support/certificates.ts'
import { execute } from '../support/execute.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { head, serveKernel, type KernelOptions } from '../support/http-kernel.ts'
import { RawClient } from '../support/raw-http.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { CIPHER, RecordMaker } from '../support/tls-records.ts'
import { turnsDuring } from '../support/turns-during.ts'

const PUBLIC = 'GET /public HTTP/1.1\r\nHost: box\r\n\r\n'

const LAST = PUBLIC.replace('Host', 'Connection: close\r\nHost')

/** What a record carries at most: RFC 8446 section 5.1. */
const FULL: number = 2 ** 14

/** The first bytes of a client. */
function clientHello(): Promise<Buffer> {
  return new Promise((resolve) => {
    const wire = new Duplex({ read: () => {}, write: (bytes: Buffer) => resolve(bytes) })
    connectTls({ socket: wire }).on('error', () => {})
  })
}

describe('a server with TLS', needs('openssl'), () => {
  let made: Promise<TestCertificate> | undefined

  async function serve(t: TestContext, options: KernelOptions = {}) {
    made ??= makeCertificate(await temporaryFolder(t), 'server')
    const certificate = await made
    const { context } = createIdentity(certificate)
    const kernel = await serveKernel(t, { tls: () => context, ...options })
    /** Connects, and resolves once the handshake is done. */
    const shake = async (more: ConnectionOptions = {}, watch = (_: TLSSocket): void => {}) => {
      const socket = connectTls({
        port: kernel.port,
        host: '127.0.0.1',
        ca: certificate.cert,
        ...more,
      })
      t.after(() => socket.destroy())
      socket.on('error', () => {})
      watch(socket)
      await new Promise((resolve, reject) => {
        socket.once('secureConnect', resolve).once('close', () => reject(new Error('Closed')))
      })
      return socket
    }
    /** Connects, to send what no client would. */
    const shakeRaw = async () => {
      const socket = connectTcp(kernel.port, '127.0.0.1')
      let keyLog = ''
      const secured = await shake({ socket, ciphers: CIPHER }, (client) => {
        client.on('keylog', (line: Buffer) => (keyLog += line.toString()))
      })
      // What ends the handshake is sent behind that event.
      await tick()
      return { socket, client: new RawClient(secured), records: new RecordMaker(keyLog) }
    }
    return { ...kernel, shake, shakeRaw, context }
  }

  it('answers requests, in TLS 1.2 and 1.3 alone, in one protocol', async (t) => {
    const { shake } = await serve(t)
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await shake({ maxVersion: version, ALPNProtocols: ['h2', 'http/1.1'] })
      assert.deepEqual([socket.getProtocol(), socket.alpnProtocol], [version, 'http/1.1'])
      assert.equal((await new RawClient(socket).send(PUBLIC).read()).status, 204)
    }
    const old = {
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    } as const
    await assert.rejects(shake(old))
  })

  it('lets pages of its own address ask, and no plain page of the same host', async (t) => {
    const { shake, port } = await serve(t)
    const ask = async (origin: string) => {
      const fields = `Host: 127.0.0.1:${port}\r\nOrigin: ${origin}\r\nAuthorization: yes`
      const client = new RawClient(await shake())
      return (await client.send(`GET / HTTP/1.1\r\n${fields}\r\n\r\n`).read()).status
    }
    assert.equal(await ask(`https://127.0.0.1:${port}`), 200)
    assert.equal(await ask(`http://127.0.0.1:${port}`), 403)
  })

  it('hangs up on what is no handshake, half or whole', async (t) => {
    const { port, shake } = await serve(t)
    for (const bytes of [PUBLIC, '\x16', '\x16\x03\x01\x00\x05hello', '\x16\x03\x01\xff\xff']) {
      const client = await RawClient.open(t, port)
      client.send(bytes).socket.end()
      assert.doesNotMatch(await client.readToEnd(), /HTTP/)
    }
    assert.equal((await new RawClient(await shake()).send(PUBLIC).read()).status, 204)
  })

  it('gives a handshake and the first header the time of a header', async (t) => {
    const clock = new FakeClock()
    const { port, shake } = await serve(t, { clock })
    const silent = await RawClient.open(t, port)
    const half = (await RawClient.open(t, port)).send('\x16\x03\x01\x02\x00\x01')
    const idle = new RawClient(await shake())
    // What a client has sent before is here.
    assert.equal((await new RawClient(await shake()).send(PUBLIC).read()).status, 204)
    for (let ms = 0; ms <= HEADER_MS; ms += 1000) {
      clock.advance(1000)
      await tick()
    }
    assert.equal(await silent.readToEnd(), '')
    assert.equal(await half.readToEnd(), '')
    assert.doesNotMatch(await idle.readToEnd(), /^HTTP\/1.1 200/)
  })

  it('gives no second handshake on a connection, and no early data', async (t) => {
    const { shake } = await serve(t)
    const old = await shake({ maxVersion: 'TLSv1.2' })
    const refused = once(old, 'error')
    old.renegotiate({ rejectUnauthorized: true }, () => {})
    assert.match(String(await refused), /no renegotiation/i)

    const modern = await shake()
    const [ticket]: Buffer[] = await once(modern, 'session')
    const path = join(await temporaryFolder(t), 'ticket')
    // Node 26 puts a header of its own before the DER.
    await writeFile(path, ticket?.subarray(ticket.indexOf('3082', 'hex')) ?? '')
    const shown = await execute('openssl', ['sess_id', '-inform', 'DER', '-in', path, '-text'])
    assert.match(shown.stdout, /TLSv1\.3[^]*Max Early Data: 0/)
  })

  it('counts connections before their handshakes, together with those of its twin', async (t) => {
    const plain = await serveKernel(t, { maxConnectionsPerAddress: 2 })
    const { context } = await serve(t)
    const listener = (): void => assert.fail('Nobody asks')
    const limits = { maxConnections: 100, maxConnectionsPerAddress: 100 }
    const server = await startServer({
      ...{ listener, host: '127.0.0.1', port: 0, ...limits },
      tls: () => context,
      sharesWith: plain.server,
    })
    t.after(() => server.stop(0))
    const first = await plain.connect()
    const half = await RawClient.open(t, server.port)
    half.send('\x16\x03\x01')
    await RawClient.open(t, server.port)
    // The oldest gives way, whatever it speaks.
    assert.equal(await first.readToEnd(), '')
    assert.equal((await (await plain.connect()).send(PUBLIC).read()).status, 204)
    assert.equal(await half.readToEnd(), '')
  })

  it('answers others between the handshakes of a flood', async (t) => {
    const { port, shake } = await serve(t, { maxConnections: 400, maxConnectionsPerAddress: 400 })
    const client = new RawClient(await shake())
    // The authorities that Node trusts would be read for each.
    const trusting = createSecureContext({ ca: (await made)?.cert })
    const flood = Array.from({ length: 30 }, () => {
      const socket = connectTls({ port, host: '127.0.0.1', secureContext: trusting })
      t.after(() => socket.destroy())
      return new Promise<void>((resolve) => {
        socket
          .once('secureConnect', () => {
            order.push('flood')
            resolve()
          })
          .on('error', () => {})
      })
    })
    const order: (string | number)[] = []
    for (let times = 0; times < 10; times++) {
      assert.equal((await client.send(PUBLIC).read()).status, 204)
      order.push('answer')
    }
    await Promise.all(flood)
    assert.ok(order.lastIndexOf('answer') < order.lastIndexOf('flood'), order.join(' '))
  })

  it('goes on with one handshake in each turn, also when they began long before', async (t) => {
    const { port } = await serve(t)
    const hello = await clientHello()
    const clients = await Promise.all(Array.from({ length: 30 }, () => RawClient.open(t, port)))
    for (const { socket } of clients) socket.write(hello.subarray(0, 1))
    // By then these bytes are here.
    for (let times = 0; times < 50; times++) await tick()
    const turns = await turnsDuring(async () => {
      for (const { socket } of clients) socket.write(hello.subarray(1))
      await Promise.all(clients.map((client) => client.readBytes(1)))
    })
    assert.ok(turns >= clients.length, `${turns} turns`)
  })

  it('decrypts a few records in each turn, also when little or nothing is in them', async (t) => {
    const { shakeRaw } = await serve(t)
    for (const make of [
      (records: RecordMaker) => [records.keyUpdates(600), records.texts(LAST)],
      (records: RecordMaker) => [records.texts(...PUBLIC.repeat(17), LAST)],
    ]) {
      const { client, socket, records } = await shakeRaw()
      const bytes = Buffer.concat(make(records))
      const turns = await turnsDuring(async () => {
        socket.write(bytes)
        assert.match(await client.readToEnd(), /HTTP\/1\.1 204/)
      })
      assert.ok(turns >= 600 / 16, `${turns} turns`)
    }
  })

  /** Connections on which `owner` sends a body. */
  async function beginBodies(t: TestContext, count: number) {
    let came = 0
    const take = route('PUT', '/', async (call) => {
      for await (const bytes of new StreamedBody(call, 64 * MIB)) came += bytes.length
      return empty(204)
    })
    const { shakeRaw, ...served } = await serve(t, { routes: [take] })
    const bodies = await Promise.all(Array.from({ length: count }, shakeRaw))
    for (const { client, socket, records } of bodies) {
      const fields = ['Transfer-Encoding: chunked', 'Expect: 100-continue']
      socket.write(records.texts(head('PUT /', ...fields)))
      assert.equal((await client.read()).status, 100)
    }
    return { ...served, bodies, came: () => came }
  }

  it('decrypts little in each turn', async (t) => {
    const { bodies } = await beginBodies(t, 40)
    const piece = Buffer.from('x'.repeat(16_000))
    const turns = await turnsDuring(async () => {
      for (const { socket, records } of bodies) {
        const chunk = `${piece.length.toString(16)}\r\n${piece}\r\n`
        socket.write(records.texts(chunk, chunk + '0\r\n\r\n'))
      }
      await Promise.all(bodies.map(({ client }) => client.read()))
    })
    assert.ok(turns >= 10, `${turns} turns`)
  })

  it('rests between records of many small pieces', async (t) => {
    const { bodies } = await beginBodies(t, 1)
    const turns = await turnsDuring(async () => {
      for (const { client, socket, records } of bodies) {
        const pieces = '1\r\nx\r\n'.repeat(100)
        socket.write(records.texts(...Array<string>(15).fill(pieces), '0\r\n\r\n'))
        await client.read()
      }
    })
    assert.ok(turns >= 15, `${turns} turns`)
  })

  it('decrypts for others between the records of somebody with many connections', async (t) => {
    const { bodies, shake, came } = await beginBodies(t, 40)
    const other = new RawClient(await shake())
    assert.equal((await other.send(PUBLIC).read()).status, 204)
    for (const { socket, records } of bodies) {
      socket.write(records.texts(...Array<string>(100).fill('1\r\nx\r\n')))
    }
    assert.equal((await other.send(PUBLIC).read()).status, 204)
    assert.ok(came() < 320, `${came()} records were first`)
  })

  it('takes a few records with nothing in them, more with time, and no flood of them', async (t) => {
    const clock = new FakeClock()
    const { shakeRaw } = await serve(t, { clock })
    const { client, socket, records } = await shakeRaw()
    for (const passed of [0, 16_384]) {
      clock.advance(passed)
      socket.write(Buffer.concat([records.keyUpdates(600), records.texts(PUBLIC)]))
      assert.equal((await client.read()).status, 204)
    }
    socket.write(Buffer.concat([records.keyUpdates(1200), records.texts(LAST)]))
    assert.equal(await client.readToEnd(), '')
  })

  it('takes no flood of records with nothing in them between some with a little', async (t) => {
    const { shakeRaw } = await serve(t, { clock: new FakeClock() })
    const { client, socket, records } = await shakeRaw()
    const pieces = LAST.match(/[^]{1,4}/g) ?? []
    for (const piece of pieces) {
      socket.write(Buffer.concat([records.keyUpdates(50), records.texts(piece)]))
    }
    assert.equal(await client.readToEnd(), '')
  })

  it('gives no more time for them to a client that does not read what it is answered', async (t) => {
    const clock = new FakeClock()
    const long = 'x'.repeat(32 * MIB)
    const { shakeRaw } = await serve(t, {
      clock,
      publicRoutes: [route('GET', '/long', () => text(long))],
    })
    const { client, socket, records } = await shakeRaw()
    socket.write(records.texts(LAST.replace('/public', '/long')))
    await client.readUntil('\r\n\r\n')
    client.socket.pause()
    socket.pause()
    for (const count of [600, 300]) {
      socket.write(records.keyUpdateRequests(count))
      // By then they have come.
      for (let turn = 0; turn < 200; turn++) await tick()
      clock.advance(8192)
    }
    socket.resume()
    client.socket.resume()
    assert.notEqual((await client.readToEnd()).length, long.length)
  })

  it('encrypts no more of an answer than its client reads', async (t) => {
    const long = Buffer.alloc(16 * MIB, 'x')
    const answer = route('GET', '/long', () => ({ status: 200, body: long }))
    const { shake } = await serve(t, { publicRoutes: [answer] })
    const before = process.memoryUsage.rss()
    const clients: RawClient[] = []
    for (let count = 0; count < 10; count++) {
      const client = new RawClient(await shake())
      clients.push(client)
      await client.send(PUBLIC.replace('/public', '/long')).readUntil('\r\n\r\n')
      client.socket.pause()
    }
    const grown = (process.memoryUsage.rss() - before) / MIB
    assert.ok(grown < 80, `${grown.toFixed(0)} MiB for ${clients.length} of 16 MiB`)
    for (const { socket } of clients) socket.resume()
    for (const client of clients) {
      const read = await client.readBytes(long.length)
      assert.ok(read === 'x'.repeat(long.length))
    }
  })

  it('takes a full record whose end comes later', async (t) => {
    const { shake, shakeRaw } = await serve(t, { clock: new FakeClock() })
    const { client, socket, records } = await shakeRaw()
    const other = new RawClient(await shake())
    const request = (length: number): string =>
      PUBLIC.replace('Host', `Content-Length: ${length}\r\nHost`)
    const left = FULL - request(10_000).length
    const record = records.texts(request(left) + 'x'.repeat(left))
    for (const part of [record.subarray(0, -10), record.subarray(-10)]) {
      socket.write(part)
      assert.equal((await other.send(PUBLIC).read()).status, 204)
    }
    assert.equal((await client.read()).status, 204)
  })

  it('ends with all its connections, those in a handshake too', async (t) => {
    const { server, port, shake } = await serve(t)
    const half = (await RawClient.open(t, port)).send('\x16\x03\x01')
    const idle = new RawClient(await shake())
    assert.equal(await server.stop(0), 0)
    assert.deepEqual([await half.readToEnd(), await idle.readToEnd()], ['', ''])
  })
})
