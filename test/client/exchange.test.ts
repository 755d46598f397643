import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { inspect } from 'node:util'
import { ClientError, connect } from '../../src/client.ts'
import { getLatest } from '../../src/client/latest.ts'
import { openServer } from '../../src/client/server.ts'
import { isTooSlow } from '../../src/client/watchdog.ts'
import { formatConnectLink, LinkError } from '../../src/link.ts'
import { listen } from '../support/listen.ts'
import { json, PASSWORD, startFakeGateway, USER } from './support/fake-gateway.ts'
import { ClientClock } from './support/client-clock.ts'

const TEXT = { type: 'Text', text: 'hi', hasData: false, size: 2, hash: 'aa', dataName: '' }
const BASIC = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`

/** Answers every connection with raw bytes. */
async function startRawServer(t: TestContext, answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => answer(socket))
  })
  return `http://127.0.0.1:${await listen(t, server)}`
}

/** A URL where nobody listens. */
async function closedUrl(t: TestContext): Promise<string> {
  const server = createServer()
  const port = await listen(t, server)
  await once(server.close(), 'close')
  return `http://127.0.0.1:${port}`
}

describe('connect()', () => {
  it('takes a connect link, and sends nothing of its metadata', async (t) => {
    const { url, received } = await startFakeGateway(t, json(TEXT))
    const o = { label: 'Pixel-9-label', did: 'did-of-pixel' }
    const client = connect(formatConnectLink({ url, user: USER, pwd: PASSWORD, o }))
    await client.probe()
    assert.equal(received[0]?.headers.authorization, BASIC)
    assert.doesNotMatch(inspect(received, { depth: 5 }), /Pixel|did/)
  })

  it('refuses a link that cannot be parsed', () => {
    assert.throws(() => connect('https://example.org'), LinkError)
  })

  it('refuses a server that no request can be sent to, without quoting it', () => {
    const good = { url: 'http://h', username: USER, password: PASSWORD }
    const extras = ['http://me@h', 'http://:pw@h', 'http://h?a', 'http://h#a']
    const bad = [
      ...['', 'h', 'ftp://h', 'http://', ...extras].map((url) => ({ ...good, url })),
      ...['', 'a:b', 'a\ud800'].map((username) => ({ ...good, username })),
      ...['', 'secret\udc00'].map((password) => ({ ...good, password })),
    ]
    for (const server of bad) {
      assert.throws(
        () => connect(server),
        (error) => {
          assert.ok(error instanceof ClientError)
          assert.equal(error.code, 'SERVER_INVALID')
          assert.doesNotMatch(inspect(error), /secret|:pw@/)
          return true
        },
      )
    }
  })

  it('keeps the password out of what is logged of a client', () => {
    const client = connect({ url: 'http://h', username: USER, password: 'correct-horse' })
    assert.doesNotMatch(inspect(client, { depth: 9, showHidden: true }), /correct-horse/)
    assert.doesNotMatch(JSON.stringify(client), /correct-horse/)
  })
})

describe('every request', () => {
  it('carries Basic credentials in UTF-8, and asks for plain bytes', async (t) => {
    const { client, received } = await startFakeGateway(t, json(TEXT))
    await client.probe()
    assert.equal(received[0]?.headers.authorization, BASIC)
    assert.equal(received[0]?.headers['accept-encoding'], 'identity')
  })

  it('goes below the path of the URL, with or without slashes at its end', async (t) => {
    const { url, received } = await startFakeGateway(t, json(TEXT))
    for (const path of ['', '/', '/a/b', '/a/b//']) {
      await connect({ url: url + path, username: USER, password: PASSWORD }).probe()
    }
    const paths = received.map((request) => request.url)
    assert.deepEqual(paths, ['/Sync.json', '/Sync.json', '/a/b/Sync.json', '/a/b/Sync.json'])
  })

  it('never follows a redirection', async (t) => {
    const other = await startFakeGateway(t, json(TEXT))
    for (const status of [301, 302, 303, 307, 308]) {
      const { client } = await startFakeGateway(t, (response) => {
        response.writeHead(status, { Location: `${other.url}/Sync.json` }).end()
      })
      const error = { name: 'ClientError', code: 'BAD_ANSWER' }
      await assert.rejects(client.probe(), error)
      await assert.rejects(client.pushText('x'), error)
      await assert.rejects(client.pushFile(new Blob(['x']), { dataName: 'x' }), error)
    }
    assert.deepEqual(other.received, [])
  })

  it('tells refusals apart, with the status and the code of the server', async (t) => {
    const problems = [
      [401, 'UNAUTHORIZED', 'UNAUTHORIZED'],
      [404, 'NOTHING_STAGED', 'NOT_FOUND'],
      [403, 'FORBIDDEN_ORIGIN', 'REFUSED'],
      [413, 'BODY_TOO_LARGE', 'REFUSED'],
      [503, 'OVERLOADED', 'REFUSED'],
    ] as const
    for (const [status, problem, code] of problems) {
      const { client } = await startFakeGateway(t, json({ code: problem }, { status }))
      await assert.rejects(client.probe(), { name: 'ClientError', code, status, problem })
    }
  })

  it('does with the status when the refusal says nothing that can be read', async (t) => {
    const bodies = ['', '<h1>No</h1>', 'null', '[]', '{"code":5}', '{"code":"so it is"}', '"x"']
    for (const body of [...bodies, `"${'x'.repeat(100_000)}"`]) {
      const { client } = await startFakeGateway(t, (response) => {
        response.writeHead(502).end(body)
      })
      const expected = { code: 'REFUSED', status: 502, problem: undefined }
      await assert.rejects(client.probe(), expected)
    }
  })

  it('quotes neither the password nor what the server wrote', async (t) => {
    const url = await startRawServer(t, (socket) => socket.end('hush-hush\r\n\r\n'))
    const echo = json({ code: PASSWORD, title: PASSWORD, detail: 'hush-hush' }, { status: 400 })
    const { client } = await startFakeGateway(t, echo)
    for (const failing of [client, connect({ url, username: USER, password: PASSWORD })]) {
      await assert.rejects(failing.pushText('hush-hush'), (error) => {
        assert.ok(error instanceof ClientError)
        assert.equal(error.cause, undefined)
        assert.doesNotMatch(inspect(error), /hush|wörd/)
        return true
      })
    }
  })

  for (const [what, answer, failure] of [
    ['the connection broke', (socket: Socket) => socket.destroy(), 'UNREACHABLE'],
    ['the answer is no HTTP', (socket: Socket) => socket.end('SSH-2.0-x\r\n'), 'BAD_ANSWER'],
    ['nobody listens, and why', undefined, 'UNREACHABLE'],
  ] as const) {
    it(`says that ${what}`, async (t) => {
      const url = answer === undefined ? await closedUrl(t) : await startRawServer(t, answer)
      const client = connect({ url, username: USER, password: PASSWORD })
      const reason = answer === undefined ? { reason: 'ECONNREFUSED' } : {}
      await assert.rejects(client.probe(), { code: failure, ...reason })
    })
  }

  it('gives up a server that does not answer', async (t) => {
    const { client } = await startFakeGateway(t, () => undefined, { timeoutMs: 20 })
    await assert.rejects(client.probe(), { code: 'TIMEOUT' })
  })

  it('gives up an answer that stops', async (t) => {
    const { client } = await startFakeGateway(
      t,
      (response) => void response.writeHead(200, { 'Content-Length': 100 }).write('{"type":'),
      { timeoutMs: 20 },
    )
    await assert.rejects(client.probe(), { code: 'TIMEOUT' })
  })

  it('gives up an answer that trickles, although it never stops', async (t) => {
    let trickle = (): unknown => undefined
    const { url } = await startFakeGateway(t, (response) => {
      trickle = () => response.write(' ')
      response.write(' ')
    })
    const clock = new ClientClock()
    const server = openServer({ url, username: USER, password: PASSWORD }, { clock })
    let isOver = false
    const given = assert
      .rejects(getLatest(server, {}), (error) => isTooSlow(error))
      .finally(() => {
        isOver = true
      })
    while (!isOver) {
      // The first timer is that of the request; each of the others waits for one part.
      await Promise.race([given, clock.set.next()])
      clock.advance(5000)
      trickle()
    }
    await given
    assert.ok(clock.monotonic() < 60_000, `${clock.monotonic()} ms`)
  })

  it('tells a refusal that ends early from a broken connection', async (t) => {
    const { client } = await startFakeGateway(t, (response) => {
      response.writeHead(507, { 'Content-Length': 100 }).write('{', () => response.destroy())
    })
    await assert.rejects(client.probe(), { code: 'REFUSED', status: 507 })
  })

  it('rejects with the reason of the caller who aborts it', async (t) => {
    const controller = new AbortController()
    const reason = new Error('Changed my mind')
    const { client } = await startFakeGateway(t, () => controller.abort(reason))
    await assert.rejects(client.probe({ signal: controller.signal }), reason)
  })

  it('sends nothing when it was aborted before', async (t) => {
    const reason = new Error('Changed my mind')
    const { client, received } = await startFakeGateway(t, json(TEXT))
    await assert.rejects(client.probe({ signal: AbortSignal.abort(reason) }), reason)
    assert.deepEqual(received, [])
  })

  it('leaves no listener on the signal of the caller', async (t) => {
    const { client } = await startFakeGateway(t, json(TEXT))
    const { signal } = new AbortController()
    const listeners = new Set<unknown>()
    signal.addEventListener = (_: string, added: unknown) => void listeners.add(added)
    signal.removeEventListener = (_: string, gone: unknown) => void listeners.delete(gone)
    await client.probe({ signal })
    await client.pushText('x', { signal }).catch(() => undefined)
    assert.equal(listeners.size, 0)
  })
})
