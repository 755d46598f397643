import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { createGzip } from 'node:zlib'
import { route } from '../../src/http/call.ts'
import { LINGER_MS } from '../../src/http/silence.ts'
import { empty, text, type BlobBody, type Reply } from '../../src/http/reply.ts'
import { defer } from '../support/defer.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { findServer, head, serveKernel, type KernelOptions } from '../support/http-kernel.ts'
import fc from '../support/property.ts'
import type { RawClient } from '../support/raw-http.ts'
import { MIB } from '../../src/core/limits.ts'

const FUTURE = 'Fri, 01 Jan 2100 00:00:00 GMT'
/** Bytes that tell their position. */
function pattern(size: number): Buffer {
  return Buffer.from(new Uint8Array(size).map((_, index) => (index * 7) % 251))
}

interface BlobFaults {
  /** Reads fewer bytes at a time than asked for. */
  readonly maxRead?: number
  /** Fails from this position on. */
  readonly failAt?: number
  /** Ends at this position already. */
  readonly endAt?: number
}

/** A blob over bytes that counts how often it is open. */
function blobOf(bytes: Buffer, { maxRead, failAt, endAt }: BlobFaults = {}) {
  const counts = { opened: 0, closed: 0, read: 0 }
  const blob: BlobBody = {
    size: bytes.length,
    async open() {
      counts.opened += 1
      return {
        async read(target, position) {
          if (failAt !== undefined && position >= failAt) throw new Error('EIO')
          const length = Math.min(maxRead ?? Infinity, target.length)
          const end = Math.min(endAt ?? bytes.length, position + length)
          const count = bytes.copy(target, 0, position, Math.max(position, end))
          counts.read += count
          return count
        },
        async close() {
          counts.closed += 1
        },
      }
    },
  }
  return { blob, counts }
}

/** Serves one reply at `/it`. */
async function serve(t: TestContext, reply: Reply, options: KernelOptions = {}) {
  const kernel = await serveKernel(t, { ...options, routes: [route('GET', '/it', () => reply)] })
  return {
    ...kernel,
    get: (headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
      fetch(`${kernel.url}/it`, { method, headers: { authorization: 'yes', ...headers } }),
  }
}

describe('a reply', () => {
  it('has its exact length, whatever its body is', async (t) => {
    const bytes = [Buffer.from([0, 255, 13, 10]), pattern(3 * MIB)]
    for (const body of ['', 'text', 'tëxt 😀', 'ü'.repeat(MIB), ...bytes]) {
      const { get } = await serve(t, { status: 200, body })
      const response = await get()
      const whole = Buffer.from(body)
      assert.equal(response.headers.get('content-length'), String(whole.length))
      assert.ok(Buffer.from(await response.arrayBuffer()).equals(whole))
      assert.equal((await get({}, 'HEAD')).headers.get('content-length'), String(whole.length))
    }
  })

  it('without a body has length 0, or none where there cannot be one', async (t) => {
    const created = await serve(t, empty(201))
    assert.equal((await created.get()).headers.get('content-length'), '0')
    const none = await serve(t, empty(204))
    assert.equal((await none.get()).headers.get('content-length'), null)
  })

  // Protocol, Downloading: `If-None-Match` gives 304
  it('with a tag is sent only to those who do not have it', async (t) => {
    const { get } = await serve(t, text('hello', { etag: '"a"' }))
    const whole = await get()
    assert.equal(whole.headers.get('etag'), '"a"')
    assert.equal(whole.headers.get('last-modified'), null)
    for (const method of ['GET', 'HEAD']) {
      const known = await get({ 'if-none-match': '"a"' }, method)
      assert.equal(known.status, 304)
      assert.equal(known.headers.get('etag'), '"a"')
      assert.equal(known.headers.get('content-type'), null)
      assert.equal(known.headers.get('content-length'), null)
      assert.equal((await get({ 'if-modified-since': FUTURE }, method)).status, 200)
      assert.equal((await get({ 'if-match': '"b"' }, method)).status, 412)
    }
    assert.equal(await (await get({ 'if-none-match': '"b"' })).text(), 'hello')
  })

  it('that is no success is never conditional', async (t) => {
    const { get } = await serve(t, { status: 404, etag: '"a"' })
    assert.equal((await get({ 'if-none-match': '"a"' })).status, 404)
  })
})

describe('a blob', () => {
  it('comes whole, block after block, and is closed', async (t) => {
    for (const size of [0, 1, 512 * 1024, 512 * 1024 + 1, 5 * MIB + 3]) {
      const bytes = pattern(size)
      const { blob, counts } = blobOf(bytes, { maxRead: 300_000 })
      const { get } = await serve(t, { status: 200, body: blob, etag: '"a"' })
      const response = await get()
      assert.equal(response.headers.get('accept-ranges'), 'bytes')
      assert.ok(Buffer.from(await response.arrayBuffer()).equals(bytes))
      assert.equal(counts.opened, counts.closed)
    }
  })

  it('is not touched for HEAD, 304, 412 and 416', async (t) => {
    const { blob, counts } = blobOf(pattern(10))
    const { get } = await serve(t, { status: 200, body: blob, etag: '"a"' })
    const probe = await get({ range: 'bytes=0-1' }, 'HEAD')
    assert.equal(probe.status, 200)
    assert.equal(probe.headers.get('content-length'), '10')
    assert.equal(probe.headers.get('accept-ranges'), 'bytes')
    await get({ 'if-none-match': '"a"' })
    await get({ 'if-match': '"b"' })
    const outside = await get({ range: 'bytes=10-' })
    assert.equal(outside.status, 416)
    assert.equal(outside.headers.get('content-range'), 'bytes */10')
    assert.deepEqual(counts, { opened: 0, closed: 0, read: 0 })
  })

  it('comes in parts, of which no more than needed is read', async (t) => {
    const bytes = pattern(2 * MIB)
    const { blob, counts } = blobOf(bytes)
    const { get } = await serve(t, { status: 200, body: blob, etag: '"a"' })
    const part = await get({ range: 'bytes=100-199' })
    assert.equal(part.status, 206)
    assert.equal(part.headers.get('content-range'), `bytes 100-199/${2 * MIB}`)
    assert.equal(part.headers.get('content-length'), '100')
    assert.ok(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(100, 200)))
    assert.equal(counts.read, 100)
    await fc.assert(
      fc.asyncProperty(fc.nat(2 * MIB), fc.nat(2 * MIB), async (start, length) => {
        const response = await get({ range: `bytes=${start}-${start + length}` })
        const got = Buffer.from(await response.arrayBuffer())
        if (start < bytes.length) assert.ok(got.equals(bytes.subarray(start, start + length + 1)))
        else assert.equal(response.status, 416)
      }),
      { numRuns: 30 },
    )
  })

  it('that cannot be opened is a failure with an answer', async (t) => {
    const blob = { size: 10, open: () => Promise.reject(new Error('EIO')) }
    const { get, failures } = await serve(t, { status: 200, body: blob })
    assert.equal((await get()).status, 500)
    assert.equal(failures.length, 1)
  })

  it('that fails or ends early breaks the answer off visibly, and is reported', async (t) => {
    for (const faults of [{ failAt: MIB }, { endAt: MIB }]) {
      const { blob, counts } = blobOf(pattern(2 * MIB), faults)
      const { get, failures } = await serve(t, { status: 200, body: blob })
      const response = await get()
      assert.equal(response.status, 200)
      await assert.rejects(response.arrayBuffer())
      assert.equal(failures.length, 1)
      assert.equal(counts.closed, 1)
    }
  })

  it('is closed when the client leaves halfway, which is no failure', async (t) => {
    let onClosed = (): void => {}
    const closed = new Promise<void>((resolve) => (onClosed = resolve))
    const blob: BlobBody = {
      size: 1024 * MIB,
      open: async () => ({ read: async (target) => target.length, close: async () => onClosed() }),
    }
    const { connect, failures, server } = await serve(t, { status: 200, body: blob })
    const client = await connect()
    client.socket.once('data', () => client.close())
    client.send(head('GET /it'))
    await closed
    await server.stop(0)
    assert.deepEqual(failures, [])
  })

  it('is not opened for a client that has left, nor left open by a pipelining one', async (t) => {
    const { blob, counts } = blobOf(pattern(MIB))
    let onClosed = (): void => {}
    const closed = new Promise<void>((resolve) => (onClosed = resolve))
    const open = async () => {
      const opened = await blob.open()
      return {
        read: opened.read,
        close: async () => {
          await opened.close()
          onClosed()
        },
      }
    }
    let onStart = (): void => {}
    const started = new Promise<void>((resolve) => (onStart = resolve))
    const { connect } = await serveKernel(t, {
      routes: [
        route('GET', '/never', () => new Promise(() => {})),
        route('GET', '/it', () => {
          setImmediate(onStart)
          return { status: 200, body: { size: MIB, open } }
        }),
      ],
    })
    const client = await connect()
    client.send(head('GET /never') + head('GET /it'))
    await started
    client.close()
    await closed
    assert.equal(counts.opened, 1)
  })

  it('may be the answer to several pipelined requests', async (t) => {
    const bytes = pattern(600_000)
    const { blob } = blobOf(bytes)
    const client = await (await serve(t, { status: 200, body: blob })).connect()
    client.send(head('GET /it') + head('GET /it') + head('GET /'))
    for (let round = 0; round < 2; round += 1) {
      assert.ok(Buffer.from((await client.read()).body, 'latin1').equals(bytes))
    }
    assert.equal((await client.read()).body, 'root')
  })
})

/** What hosts put in the place of `response.write`; none of them knows of a callback. */
const HOSTS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'passes on the chunk alone': (response) => {
    const write = response.write.bind(response)
    response.write = (chunk: unknown) => write(chunk)
  },
  'returns nothing': (response) => {
    const write = response.write.bind(response)
    const logged = (...all: Parameters<typeof write>): void => void write(...all)
    Reflect.set(response, 'write', logged)
  },
  /** As the package `compression` does. */
  compresses: (response) => {
    const gzip = createGzip()
    const [write, end, on] = [response.write, response.end, response.on]
    response.write = (chunk: unknown) => {
      assert.ok(Buffer.isBuffer(chunk))
      return gzip.write(chunk)
    }
    response.end = () => {
      gzip.end()
      return response
    }
    Reflect.set(response, 'on', (type: string, listener: () => void) => {
      if (type === 'drain') gzip.on(type, listener)
      else Reflect.apply(on, response, [type, listener])
      return response
    })
    const { writeHead } = response
    response.writeHead = (status: number) => {
      return Reflect.apply(writeHead, response, [status, { 'Content-Encoding': 'gzip' }])
    }
    gzip.on('data', (chunk) => {
      if (!Reflect.apply(write, response, [chunk])) gzip.pause()
    })
    Reflect.apply(on, response, ['drain', () => gzip.resume()])
    gzip.on('end', () => Reflect.apply(end, response, []))
  },
}

describe('behind a host that replaced what writes', () => {
  const size = 12 * MIB
  // No two blocks are the same: one that is overwritten too early is seen.
  const bytes = Buffer.alloc(size)
  for (let at = 0; at < size; at += 4) bytes.writeUInt32BE(Math.imul(at, 0x9e3779b1) >>> 0, at)

  for (const [name, replace] of Object.entries(HOSTS)) {
    it(`and ${name}, a blob comes whole`, async (t) => {
      const { blob, counts } = blobOf(bytes)
      const { get, port } = await serve(t, { status: 200, body: blob })
      findServer(port).prependListener('request', (_request, response) => replace(response))
      const response = await get()
      assert.ok(Buffer.from(await response.arrayBuffer()).equals(bytes))
      assert.equal(counts.closed, 1)
    })

    it(`and ${name}, little of a blob is read for a client that reads none`, async (t) => {
      const endless = blobOf(Buffer.concat(Array.from({ length: 6 }, () => bytes)))
      const clock = new FakeClock()
      const { connect, port } = await serve(t, { status: 200, body: endless.blob }, { clock })
      findServer(port).prependListener('request', (_request, response) => replace(response))
      const client = await connect()
      client.socket.pause()
      client.send(head('GET /it'))
      await passTimeUntilClosed(client, clock)
      assert.ok(endless.counts.read < endless.blob.size / 2, String(endless.counts.read))
    })
  }
})

describe('an unwanted request body', () => {
  /** Serves with a clock that goes on when the test says so. */
  async function refuse(t: TestContext, options: KernelOptions = {}) {
    const clock = new FakeClock()
    return { clock, ...(await serveKernel(t, { clock, ...options })) }
  }

  it('is not waited for: the answer comes, and the connection ends', async (t) => {
    const { clock, connect } = await refuse(t)
    for (const length of [5, 1024 * MIB]) {
      for (const method of ['GET', 'POST']) {
        const client = await connect()
        client.send(head(`${method} /`, `Content-Length: ${length}`))
        const answer = await client.read()
        assert.equal(answer.status, method === 'GET' ? 200 : 405)
        assert.equal(answer.headers['connection'], 'close')
        clock.advance(LINGER_MS)
        assert.equal(await client.readToEnd(), '')
      }
    }
  })

  // Protocol: at most 5 s or 16 MiB more are read
  it('is read for a while: its sender gets to read the answer, also behind the last byte', async (t) => {
    const { connect } = await refuse(t)
    for (const length of [512 * 1024, 8 * MIB]) {
      const client = await connect()
      client.socket.pause()
      const request = head('POST /nope', `Content-Length: ${length}`) + 'x'.repeat(length)
      await new Promise<void>((resolve, reject) => {
        client.socket.write(request, (error) => (error ? reject(error) : resolve()))
      })
      client.socket.resume()
      assert.match(await client.readToEnd(), /^HTTP\/1\.1 404 .*NOT_FOUND"}$/s)
    }
  })

  it('is not read for ever, and the answer is there', async (t) => {
    const { clock, connect } = await refuse(t)
    const client = await connect()
    client.send(head('POST /nope', 'Transfer-Encoding: chunked'))
    const flood = `10000\r\n${'x'.repeat(64 * 1024)}\r\n`
    const pour = (): void => {
      while (!client.socket.destroyed && client.socket.write(flood));
    }
    client.socket.on('drain', pour)
    pour()
    assert.equal((await client.read()).status, 404)
    clock.advance(LINGER_MS)
    await client.readToEnd()
    assert.equal(client.socket.bytesWritten < 64 * MIB, true, `${client.socket.bytesWritten}`)
  })

  it('hides no request: what is pipelined behind it is not served', async (t) => {
    let served = 0
    const { connect } = await refuse(t, {
      routes: [
        route('GET', '/hidden', () => {
          served += 1
          return empty(200)
        }),
      ],
    })
    const client = await connect()
    client.send(head('POST /nope', 'Content-Length: 5') + 'hello' + head('GET /hidden'))
    assert.equal((await client.read()).status, 404)
    assert.equal(await client.readToEnd(), '')
    assert.equal(served, 0)
  })

  it('does not spoil HEAD, nor a blob', async (t) => {
    const { blob } = blobOf(pattern(MIB))
    const row = route('GET', '/it', () => ({ status: 200, body: blob }))
    const { clock, connect } = await refuse(t, { routes: [row] })
    const probing = await connect()
    probing.send(head('HEAD /', 'Content-Length: 5'))
    assert.equal((await probing.read('HEAD')).headers['content-length'], '4')
    const reading = await connect()
    reading.send(head('GET /it', 'Content-Length: 5'))
    assert.equal((await reading.read()).body.length, MIB)
    clock.advance(LINGER_MS)
    assert.equal(await reading.readToEnd(), '')
  })
})

describe('a client that stops reading', () => {
  const endless: BlobBody = {
    size: 1024 * MIB,
    open: async () => ({ read: async (target) => target.length, close: async () => {} }),
  }
  const bodies = { 'a blob': endless, 'a long text': 'x'.repeat(32 * MIB) }
  for (const [name, body] of Object.entries(bodies)) {
    // Protocol: A download that makes no progress for
    it(`in the middle of ${name} is cut off`, async (t) => {
      const clock = new FakeClock()
      const { connect, failures } = await serve(t, { status: 200, body }, { clock })
      const client = await connect()
      client.socket.pause()
      client.send(head('GET /it'))
      await passTimeUntilClosed(client, clock)
      assert.deepEqual(failures, [])
    })
  }

  it('but only for a while gets everything', async (t) => {
    const bytes = pattern(24 * MIB)
    const { blob } = blobOf(bytes)
    const client = await (await serve(t, { status: 200, body: blob })).connect()
    client.send(head('GET /it'))
    client.socket.pause()
    await new Promise((resolve) => setImmediate(resolve))
    client.socket.resume()
    assert.ok(Buffer.from((await client.read()).body, 'latin1').equals(bytes))
  })

  it('behind a pipelined answer is cut off, too', async (t) => {
    const slow = defer<Reply>()
    const clock = new FakeClock()
    const { connect } = await serveKernel(t, {
      clock,
      routes: [
        route('GET', '/slow', () => slow.promise),
        route('GET', '/long', () => text('x'.repeat(32 * MIB))),
        route('GET', '/go', () => {
          slow.resolve(empty(200))
          return empty(200)
        }),
      ],
    })
    const client = await connect()
    client.socket.pause()
    client.send(head('GET /slow') + head('GET /long'))
    await (await connect()).send(head('GET /')).read()
    await (await connect()).send(head('GET /go')).read()
    await passTimeUntilClosed(client, clock)
  })
})

/** Half-open: what tells the client is the reset, once it sends again. */
async function passTimeUntilClosed({ socket }: RawClient, clock: FakeClock): Promise<void> {
  while (!socket.destroyed) {
    clock.advance(1000)
    await new Promise((resolve) => socket.write(head('GET /'), resolve))
  }
}
