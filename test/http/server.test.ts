import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { setImmediate as tick } from 'node:timers/promises'
import { describe, it, type TestContext } from 'node:test'
import { route } from '../../src/http/call.ts'
import { HEADER_MS } from '../../src/http/connection-table.ts'
import { HttpError } from '../../src/http/http-error.ts'
import { readBytes } from '../../src/http/read-body.ts'
import { text, type Reply } from '../../src/http/reply.ts'
import { startServer } from '../../src/http/server.ts'
import { defer } from '../support/defer.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  findServer,
  head,
  serveKernel,
  type KernelOptions,
  type Owner,
} from '../support/http-kernel.ts'
import { Mailbox } from '../support/mailbox.ts'
import { RawClient } from '../support/raw-http.ts'

const PUBLIC = 'GET /public HTTP/1.1\r\nHost: box\r\n\r\n'
const BOUNDS = { maxConnections: 10, maxConnectionsPerAddress: 10 }

/** A route that answers when told to. */
function held<Principal = Owner>() {
  const started = defer<void>()
  const reply = defer<Reply>()
  const row = route<Principal, '/held'>('GET', '/held', () => {
    started.resolve()
    return reply.promise
  })
  return { row, started: started.promise, release: () => reply.resolve(text('released')) }
}

/** Whether the server at the other end of a connection still serves it. */
async function isServed(client: RawClient): Promise<boolean> {
  try {
    return (await client.send(PUBLIC).read()).status === 204
  } catch {
    // Closed by the server.
    return false
  }
}

/** Seconds until the system asks a silent peer whether it is there, as Linux tells it. */
async function nextProbe(port: number): Promise<number | undefined> {
  const at = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = (await readFile('/proc/self/net/tcp', 'utf8')).split('\n')
  for (const line of lines.map((text) => text.trim().split(/\s+/))) {
    // Established, and a timer that is neither of a packet nor of its answer: proc_net_tcp.
    const [kind, ticks = ''] = line[5]?.split(':') ?? []
    const isOurs = line[1]?.endsWith(at) === true && line[3] === '01'
    if (isOurs && kind === '02') return Number.parseInt(ticks, 16) / 100
  }
  return undefined
}

describe('a listening server', () => {
  it('says where it listens, and which address it cannot have', async (t) => {
    const { server, port } = await serveKernel(t)
    assert.equal(server.host, '127.0.0.1')
    assert.ok(port > 0)
    const listener = (): void => {}
    await assert.rejects(
      startServer({ listener, host: '127.0.0.1', port, ...BOUNDS }),
      (error: Error & { readonly cause: NodeJS.ErrnoException }) => {
        assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${port}: something else`))
        return error.cause.code === 'EADDRINUSE'
      },
    )
    const elsewhere = { listener, port: 0, ...BOUNDS }
    await assert.rejects(startServer({ ...elsewhere, host: '192.0.2.1' }), /192\.0\.2\.1:0/)
    await assert.rejects(startServer({ ...elsewhere, host: '2001:db8::1' }), /\[2001:db8::1\]:0/)
  })

  it('can have the same port on both families', async (t) => {
    const first = await serveKernel(t, { host: '0.0.0.0' })
    try {
      const second = await serveKernel(t, { host: '::', port: first.port })
      assert.equal(second.port, first.port)
    } catch (error) {
      // The machine has no IPv6; then there is nothing to share.
      assert.match(String(error), /kind of address|no such address/)
    }
  })

  it('comes back by itself when its socket is lost', async (t) => {
    const clock = new FakeClock()
    const squatter = createServer()
    const troubles = new Mailbox<string | undefined>()
    const onTrouble = (reason: string | undefined): void => troubles.put(reason)
    const { server, connect, port } = await serveKernel(t, { clock, onTrouble })
    await loseSocket(port)
    assert.equal(await troubles.next(), 'the socket was closed')
    assert.equal(server.trouble, 'the socket was closed')
    // Something else is quicker, once.
    await once(squatter.listen(port, '127.0.0.1'), 'listening')
    clock.advance(1000)
    assert.match((await troubles.next()) ?? '', /something else listens there/)
    await once(squatter.close(), 'close')
    clock.advance(2000)
    assert.equal(await troubles.next(), undefined)
    assert.equal(server.trouble, undefined)
    assert.ok(await isServed(await connect()))
  })

  it('has silent peers asked whether they are there, once they stay', async (t) => {
    if (process.platform !== 'linux') return
    const clock = new FakeClock()
    const { connect, port } = await serveKernel(t, { clock })
    assert.ok(await isServed(await connect()))
    clock.advance(1000)
    await tick()
    assert.ok(((await nextProbe(port)) ?? 0) > 30)
  })

  it('that was lost can be stopped', async (t) => {
    const { server, port } = await serveKernel(t, { clock: new FakeClock() })
    await loseSocket(port)
    await server.stop(0)
  })

  it('looks each minute whether it can be reached, and counts no connection for that', async (t) => {
    const clock = new FakeClock()
    const met: string[] = []
    const admit = (address: string): boolean => met.push(address) > 0
    const troubles: unknown[] = []
    const onTrouble = (reason: unknown): void => void troubles.push(reason)
    const { connect, port } = await serveKernel(t, { clock, admit, onTrouble, maxConnections: 1 })
    const client = await connect()
    assert.ok(await isServed(client))
    for (let minute = 1; minute < 4; minute++) {
      const looked = once(findServer(port), 'connection')
      clock.advance(60_000)
      await looked
      assert.ok(await isServed(client))
    }
    assert.deepEqual([met, troubles], [['127.0.0.1'], []])
  })

  it('tells of trouble with accepting, and goes on', async (t) => {
    const troubles: (string | undefined)[] = []
    const { connect, port } = await serveKernel(t, { onTrouble: (reason) => troubles.push(reason) })
    findServer(port).emit('error', new Error('accept ENOBUFS'))
    assert.deepEqual(troubles, ['accept ENOBUFS'])
    assert.ok(await isServed(await connect()))
  })
})

describe('a silent connection', () => {
  async function serveSilent(t: TestContext, options: KernelOptions = {}) {
    const clock = new FakeClock()
    const served = await serveKernel(t, { ...options, clock })
    /** Lets time pass once all that was sent before has been read. */
    async function pass(ms: number): Promise<void> {
      assert.ok(await isServed(await served.connect()))
      clock.advance(ms)
      assert.ok(await isServed(await served.connect()))
    }
    /** Lets time pass, second by second, until there is an answer. */
    async function passUntil<Value>(answer: Promise<Value>): Promise<Value> {
      let isSettled = false
      const settle = (): void => {
        isSettled = true
      }
      answer.then(settle, settle)
      while (!isSettled) await pass(1000)
      return answer
    }
    return { ...served, clock, pass, passUntil }
  }

  it('is closed without a word', async (t) => {
    const { connect, pass } = await serveSilent(t)
    const client = await connect()
    await pass(HEADER_MS)
    assert.equal(await client.readToEnd(), '')
  })

  for (const first of ['', PUBLIC, PUBLIC + PUBLIC]) {
    const requests = first.length / PUBLIC.length
    it(`in the middle of a header behind ${requests} requests is told 408`, async (t) => {
      const { connect, pass, passUntil } = await serveSilent(t)
      const client = await connect()
      client.send(`${first}GET / HTTP/1.1\r\nHost`)
      for (let index = 0; index < requests; index++) assert.equal((await client.read()).status, 204)
      const answer = await passUntil(client.read())
      assert.equal(answer.status, 408)
      assert.equal(JSON.parse(answer.body).code, 'HEADER_TIMEOUT')
      await pass(2000)
      assert.equal(await client.readToEnd(), '')
    })
  }

  it('does not live longer by dripping, not even in its second request', async (t) => {
    const { connect, pass } = await serveSilent(t)
    for (const first of ['', PUBLIC]) {
      const client = await connect()
      if (first !== '') assert.ok(await isServed(client))
      client.send('GET / HTTP/1.1\r\n')
      for (let second = 0; second <= 11; second++) {
        await pass(1000)
        client.send('X-A: b\r\n')
      }
      await pass(2000)
      assert.match(await client.readToEnd(), /^HTTP\/1\.1 408 /)
    }
  })

  it('between two requests lives for as long as keep-alive allows, and no longer', async (t) => {
    const { connect, pass, port } = await serveSilent(t)
    const client = await connect()
    assert.ok(await isServed(client))
    await pass(2 * HEADER_MS)
    findServer(port).keepAliveTimeout = 1
    assert.ok(await isServed(client))
    assert.equal(await client.readToEnd(), '')
  })

  it('that still sends its body is not silent', async (t) => {
    const upload = route<Owner, '/upload'>('PUT', '/upload', async (call) => {
      const { length } = await readBytes(call, 1_000_000)
      return text(String(length))
    })
    const { connect, pass } = await serveSilent(t, { routes: [upload] })
    const client = await connect()
    client.send(head('PUT /upload', 'Transfer-Encoding: chunked'))
    for (let round = 0; round < 3; round += 1) {
      client.send('1\r\nx\r\n')
      await pass(HEADER_MS - 1)
    }
    assert.equal((await client.send('0\r\n\r\n').read()).status, 200)
  })

  it('is not what the server does not read yet, since others keep it busy', async (t) => {
    const take = route<Owner, '/take'>('PUT', '/take', async (call) => {
      await readBytes(call, 1_000_000)
      return text('')
    })
    const { connect, clock } = await serveSilent(t, { routes: [take] })
    const others = await Promise.all(Array.from({ length: 40 }, connect))
    for (const other of others) assert.ok(await isServed(other))
    const newcomer = await connect()
    const body = '1\r\n \r\n'.repeat(40_000)
    for (const other of others) other.send(head('PUT /take', 'Transfer-Encoding: chunked') + body)
    newcomer.send(PUBLIC)
    for (let second = 0; second <= 11; second++) {
      clock.advance(1000)
      for (let turn = 0; turn < 3; turn++) await tick()
    }
    assert.equal((await newcomer.read()).status, 204)
  })

  it('that waits for an answer is not silent', async (t) => {
    const { row, started, release } = held()
    const { connect, pass } = await serveSilent(t, { routes: [row] })
    const client = await connect()
    client.send(head('GET /held'))
    await started
    await pass(2 * HEADER_MS)
    release()
    assert.equal((await client.read()).body, 'released')
  })
})

describe('a full house', () => {
  it('closes the oldest silent connection, of a stranger if there is one', async (t) => {
    const { connect } = await serveKernel(t, { maxConnections: 3 })
    const member = await connect()
    await member.send(head('GET /')).read()
    const oldest = await connect()
    const other = await connect()
    const newcomer = await connect()
    assert.equal(await oldest.readToEnd(), '')
    for (const client of [member, other, newcomer]) assert.ok(await isServed(client))
  })

  it('closes strangers that do not read, or go on sending, before it turns anybody away', async (t) => {
    const big = route<undefined, '/big'>('GET', '/big', () => text('x'.repeat(16 * 2 ** 20)))
    const body = 'Content-Length: 1000\r\n\r\nx'
    for (const request of [
      'GET /big HTTP/1.1\r\nHost: box\r\n\r\n',
      `POST / HTTP/1.1\r\nHost: box\r\n${body}`,
      `POST /public HTTP/1.1\r\nHost: box\r\n${body}`,
      `${PUBLIC.repeat(10)}GET /big HTTP/1.1\r\nHost: box\r\n\r\n${PUBLIC.repeat(5)}`,
      'GET /big HTTP/1.1\r\nHost: box\r\n\r\nDELETE / HTTP/1.1\r\nHost: box\r\n\r\n',
    ]) {
      const limits = { maxConnections: 3, maxConnectionsPerAddress: 2, clock: new FakeClock() }
      const { connect } = await serveKernel(t, { ...limits, publicRoutes: [big] })
      const member = await connect()
      await member.send(head('GET /')).read()
      const strangers = [await connect(), await connect()]
      for (const stranger of strangers) {
        // The beginning of its answer has come, and the rest of it waits for ever.
        const begun = once(stranger.socket, 'data')
        stranger.send(request)
        await begun
        stranger.socket.pause()
      }
      const newcomers = [await connect(), await connect()]
      for (const client of [...newcomers, member]) assert.ok(await isServed(client), request)
    }
  })

  it('keeps a stranger whose login is being checked, and members that are busy', async (t) => {
    const { row, started, release } = held()
    const checks: (() => void)[] = []
    const checking = defer<void>()
    const { connect } = await serveKernel(t, {
      maxConnections: 2,
      routes: [row],
      authenticate: async ({ request }): Promise<Owner> => {
        if (request.headers.authorization !== 'yes') throw new HttpError('UNAUTHORIZED')
        if (request.url !== '/') return 'owner'
        checking.resolve()
        await new Promise<void>((resolve) => checks.push(resolve))
        return 'owner'
      },
    })
    const member = await connect()
    member.send(head('GET /held'))
    await started
    const newcomer = await connect()
    newcomer.send(head('GET /'))
    await checking.promise
    assert.ok(!(await isServed(await connect())))
    for (const check of checks) check()
    assert.equal((await newcomer.read()).body, 'root')
    release()
    assert.equal((await member.read()).body, 'released')
  })

  it('closes the oldest silent member when there is no stranger', async (t) => {
    const { connect } = await serveKernel(t, { maxConnections: 1 })
    const member = await connect()
    await member.send(head('GET /')).read()
    assert.ok(await isServed(await connect()))
    assert.equal(await member.readToEnd(), '')
  })

  it('closes one of a client that has dozens, also when an answer is owed on each', async (t) => {
    const { row, started, release } = held()
    let name = 'greedy'
    const nameOf = (): string => name
    const { connect } = await serveKernel(t, { maxConnections: 41, routes: [row], nameOf })
    const greedy = []
    for (let count = 0; count < 40; count++) {
      const client = await connect()
      greedy.push(client.send(`${head('GET /')}${head('GET /held')}`))
      await client.read()
    }
    await started
    name = 'other'
    const other = await connect()
    await other.send(`${head('GET /')}${head('GET /held')}`).read()
    assert.ok(await isServed(await connect()))
    assert.equal(await greedy[0]?.readToEnd(), '')
    release()
    assert.equal((await other.read()).body, 'released')
    assert.equal((await greedy[1]?.read())?.body, 'released')
  })

  it('turns newcomers away when everybody waits for an answer', async (t) => {
    const { row, started, release } = held()
    const { connect } = await serveKernel(t, { maxConnections: 1, routes: [row] })
    const client = await connect()
    client.send(head('GET /held'))
    await started
    assert.ok(!(await isServed(await connect())))
    release()
    assert.equal((await client.read()).body, 'released')
  })
})

describe('one address', () => {
  it('has so many connections without a login; the oldest silent one makes room', async (t) => {
    const { connect } = await serveKernel(t, { maxConnectionsPerAddress: 2 })
    const members: RawClient[] = []
    for (let index = 0; index < 3; index += 1) {
      const member = await connect()
      assert.equal((await member.send(head('GET /')).read()).status, 200)
      members.push(member)
    }
    const strangers = [await connect(), await connect(), await connect()]
    assert.equal(await strangers[0]?.readToEnd(), '')
    for (const client of [...members, ...strangers.slice(1)]) assert.ok(await isServed(client))
  })

  it('gets no more while all of them wait for an answer', async (t) => {
    const { row, started } = held<undefined>()
    const { connect } = await serveKernel(t, { maxConnectionsPerAddress: 1, publicRoutes: [row] })
    const client = await connect()
    client.send('GET /held HTTP/1.1\r\nHost: box\r\n\r\n')
    await started
    assert.ok(!(await isServed(await connect())))
  })

  it('may be exempt, since it stands for many', async (t) => {
    const { connect } = await serveKernel(t, {
      maxConnectionsPerAddress: 1,
      isExempt: (address) => address === '127.0.0.1',
    })
    const clients = [await connect(), await connect()]
    for (const client of clients) assert.ok(await isServed(client))
  })

  // Protocol: before a byte is read
  it('may not be served at all', async (t) => {
    const asked: string[] = []
    const { connect } = await serveKernel(t, {
      admit: (address) => {
        asked.push(address)
        return false
      },
    })
    assert.ok(!(await isServed(await connect())))
    assert.deepEqual(asked, ['127.0.0.1'])
  })
})

describe('stopping', () => {
  it('ends at once when nobody waits for anything', async (t) => {
    const { server, connect, port } = await serveKernel(t)
    const clients = [await connect(), await connect()]
    assert.ok(await isServed(clients[0] ?? assert.fail()))
    await server.stop(60_000)
    for (const client of clients) assert.equal(await client.readToEnd(), '')
    await assert.rejects(RawClient.connect(port))
  })

  it('lets answers that are owed be given, and tells newcomers meanwhile', async (t) => {
    const { row, started, release } = held()
    let isOver = false
    const { server, connect } = await serveKernel(t, { isDraining: () => isOver, routes: [row] })
    const idle = await connect()
    assert.ok(await isServed(idle), 'it is idle after its first request, and new before that')
    const client = await connect()
    client.send(head('GET /held'))
    await started
    isOver = true
    const stopped = server.stop(60_000)
    assert.equal(server.stop(0), stopped)
    assert.equal(await idle.readToEnd(), '')
    assert.match(await (await connect()).send(head('GET /')).readToEnd(), /^HTTP\/1\.1 503 /)
    release()
    assert.match(await client.readToEnd(), /^HTTP\/1\.1 200 .*Connection: close.*released$/s)
    await stopped
  })

  it('does not hang up on somebody who has just connected', async (t) => {
    let isDraining = false
    const { row, started, release } = held<undefined>()
    const { server, connect } = await serveKernel(t, {
      publicRoutes: [row],
      isDraining: () => isDraining,
    })
    const waiting = (await connect()).send('GET /held HTTP/1.1\r\nHost: box\r\n\r\n')
    const newcomer = await connect()
    await started
    isDraining = true
    const stopped = server.stop(60_000)
    assert.equal((await newcomer.send(head('GET /')).read()).status, 503)
    release()
    assert.equal((await waiting.read()).status, 200)
    await stopped
  })

  it('ends what takes too long', async (t) => {
    const { row, started } = held()
    const clock = new FakeClock()
    const { server, connect } = await serveKernel(t, { clock, routes: [row] })
    const client = await connect()
    client.send(head('GET /held'))
    await started
    const stopped = server.stop(10)
    clock.advance(10)
    await stopped
    assert.equal(await client.readToEnd(), '')
  })

  it('notices when those who waited have left', async (t) => {
    const { row, started } = held()
    const { server, connect } = await serveKernel(t, { routes: [row] })
    const client = await connect()
    client.send(head('GET /held') + head('GET /held'))
    await started
    const stopped = server.stop(60_000)
    client.close()
    await stopped
  })
})

/** Closes the listening socket behind the back of its owner. */
async function loseSocket(port: number): Promise<void> {
  await once(findServer(port).close(), 'close')
}
