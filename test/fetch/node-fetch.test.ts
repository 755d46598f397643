import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { ByteSource, FetchedResponse } from '../../src/client/server.ts'
import { MIB } from '../../src/core/limits.ts'
import { createNodeFetch, type NodeFetch } from '../../src/fetch/node-fetch.ts'
import { listen } from '../support/listen.ts'
import { LOADER } from '../support/program.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { makeAuthority, makeCertificate, type TestCertificate } from '../support/certificates.ts'
import { describeRequest, startTlsServer, type TlsServer } from '../peers/support/tls-server.ts'
import { execute } from '../support/execute.ts'

const FETCH_ONCE = fileURLToPath(new URL('./support/fetch-once.ts', import.meta.url))

const AUTHORIZED = { authorization: 'Basic c2VjcmV0OnNlY3JldA==' }

/** On a connection of its own each time. */
const greet: RequestListener = (_, response) => {
  response.setHeader('Connection', 'close').end('hello')
}

function openFetch(t: TestContext, fingerprint?: string): NodeFetch {
  const opened = createNodeFetch(fingerprint)
  t.after(() => opened.close())
  return opened
}

function get({ fetch }: NodeFetch, url: string): Promise<FetchedResponse> {
  return fetch(url, { method: 'GET', headers: AUTHORIZED, signal: new AbortController().signal })
}

async function bytesOf({ body }: FetchedResponse): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  const reader = body?.getReader()
  for (;;) {
    const { value } = (await reader?.read()) ?? {}
    if (value === undefined) return Buffer.concat(chunks)
    chunks.push(value)
  }
}

async function textOf(answer: FetchedResponse): Promise<string> {
  return (await bytesOf(answer)).toString()
}

/** Fails, with this code as the reason. */
async function fails(promise: Promise<FetchedResponse>, code: string): Promise<void> {
  await assert.rejects(promise, ({ cause }: Error) => {
    assert.equal(Object(cause).code, code)
    return true
  })
}

/** A request of a process that trusts an authority. @returns The status, or the code of the error. */
async function fetchTrusting(
  { certPath }: TestCertificate,
  ...args: readonly string[]
): Promise<string> {
  const env = { PATH: process.env['PATH'], NODE_EXTRA_CA_CERTS: certPath }
  const command = [...LOADER, FETCH_ONCE, ...args]
  const { stdout } = await execute(process.execPath, command, { env })
  return stdout.trim()
}

function saw({ requests, decryptedBytes }: TlsServer): readonly unknown[] {
  return [...requests, decryptedBytes]
}

describe('a body that is not what was announced', () => {
  const source = (size: number, pieces: readonly (string | Error)[]): ByteSource => ({
    size,
    type: '',
    slice: () => source(size, pieces),
    stream: async function* () {
      for (const piece of pieces) {
        if (piece instanceof Error) throw piece
        yield Buffer.from(piece)
      }
    },
  })

  it('ends the request at once, saying so, whether it is longer, shorter or cannot be read', async (t) => {
    const port = await listen(
      t,
      createServer((request) => void request.resume()),
    )
    const url = `http://127.0.0.1:${port}/`
    const signal = new AbortController().signal
    for (const pieces of [['four', 'more'], ['fou'], [], ['fo', new Error('changed')]]) {
      const sent = openFetch(t).fetch(url, {
        ...{ method: 'PUT', headers: {}, signal },
        body: source(4, pieces),
      })
      await assert.rejects(sent, { code: 'SOURCE_UNREADABLE' })
    }
  })

  it('is not to blame for a connection that breaks', async (t) => {
    const port = await listen(
      t,
      createServer((request) => void request.socket.destroy()),
    )
    const url = `http://127.0.0.1:${port}/`
    const body = source(
      1e9,
      Array.from({ length: 1000 }, () => 'x'.repeat(1e6)),
    )
    const { signal } = new AbortController()
    const sent = openFetch(t).fetch(url, { method: 'PUT', headers: {}, signal, body })
    await assert.rejects(sent, TypeError)
  })
})

describe('a link with https', needs('openssl', 'faketime'), () => {
  it('takes certificates of authorities that the machine trusts, for the right name', async (t) => {
    const folder = await temporaryFolder(t)
    const authority = await makeAuthority(folder)
    const [right, wrong, expired] = await Promise.all([
      makeCertificate(folder, 'right', { authority }),
      makeCertificate(folder, 'wrong', { authority, altName: 'DNS:elsewhere.example' }),
      makeCertificate(folder, 'expired', { authority, isExpired: true }),
    ])
    const rightServer = await startTlsServer(t, right, greet)
    assert.equal(await fetchTrusting(authority, `${rightServer.url}/a`), '200')
    assert.deepEqual(rightServer.requests, ['GET /a authorized'])
    for (const [certificate, code] of [
      [wrong, 'ERR_TLS_CERT_ALTNAME_INVALID'],
      [expired, 'CERT_HAS_EXPIRED'],
    ] as const) {
      const server = await startTlsServer(t, certificate, greet)
      assert.equal(await fetchTrusting(authority, server.url), code)
      assert.deepEqual(saw(server), [0])
    }
    // A pin is another certificate than all of them.
    const pinned = await fetchTrusting(authority, rightServer.url, wrong.fingerprint)
    assert.equal(pinned, 'CERTIFICATE_NOT_PINNED')
    assert.deepEqual(rightServer.requests, ['GET /a authorized'])
  })

  it('takes no other certificate, and tells it nothing', async (t) => {
    const folder = await temporaryFolder(t)
    const authority = await makeAuthority(folder)
    const own = await startTlsServer(t, await makeCertificate(folder, 'own'), greet)
    await fails(get(openFetch(t), own.url), 'DEPTH_ZERO_SELF_SIGNED_CERT')
    const signed = await makeCertificate(folder, 'foreign', { authority })
    const foreign = await startTlsServer(t, signed, greet)
    await fails(get(openFetch(t), foreign.url), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')
    assert.deepEqual([...saw(own), ...saw(foreign)], [0, 0])
  })

  it('takes the pinned certificate, whoever signed it, whatever its name, and only that', async (t) => {
    const folder = await temporaryFolder(t)
    const [pinned, other] = await Promise.all([
      makeCertificate(folder, 'pinned', { altName: 'DNS:elsewhere.example', isExpired: true }),
      // The same names, but not the same key.
      makeCertificate(folder, 'other', { altName: 'DNS:elsewhere.example' }),
    ])
    const server = await startTlsServer(t, pinned, greet)
    const link = openFetch(t, pinned.fingerprint)
    assert.equal(await textOf(await get(link, `${server.url}/1`)), 'hello')
    assert.ok(server.decryptedBytes > 0, 'the bytes of a request are seen')

    const impostor = await startTlsServer(t, other, greet)
    await fails(get(link, impostor.url), 'CERTIFICATE_NOT_PINNED')
    assert.deepEqual(saw(impostor), [0])

    // The certificate of the server changes after it was joined.
    const before = server.decryptedBytes
    server.replace(other)
    await fails(get(link, `${server.url}/2`), 'CERTIFICATE_NOT_PINNED')
    assert.deepEqual([server.requests, server.decryptedBytes], [['GET /1 authorized'], before])
    server.replace(pinned)
    assert.equal((await get(link, `${server.url}/3`)).status, 200)
  })

  it('follows no redirection, to nowhere', async (t) => {
    const folder = await temporaryFolder(t)
    const certificate = await makeCertificate(folder, 'pinned')
    const elsewhere = await startTlsServer(t, certificate, greet)
    let status = 0
    const server = await startTlsServer(t, certificate, ({ url }, response) => {
      response
        .writeHead(status, { Location: url === '/here' ? '/there' : elsewhere.url })
        .end('gone')
    })
    const link = openFetch(t, certificate.fingerprint)
    for (status of [301, 302, 303, 307, 308]) {
      for (const path of ['/here', '/away']) {
        await assert.rejects(get(link, server.url + path), ({ cause }: Error) => {
          assert.match(String(cause), /unexpected redirect/)
          return true
        })
      }
    }
    assert.equal(server.requests.filter((request) => request.includes('/there')).length, 0)
    assert.deepEqual([server.requests.length, ...saw(elsewhere)], [10, 0])
  })
})

describe('a link', () => {
  async function serve(t: TestContext, answer: RequestListener): Promise<string> {
    return `http://127.0.0.1:${await listen(t, createServer(answer))}`
  }

  it('sends bodies as streams of known length, and reads the answer', async (t) => {
    const bytes = randomBytes(3 * MIB)
    const url = await serve(t, async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const { 'content-length': length, 'transfer-encoding': coding } = request.headers
      const isSame = Buffer.concat(chunks).equals(bytes)
      response.setHeader('X-Seen', [describeRequest(request), `${length} ${coding} ${isSame}`])
      response.end(bytes)
    })
    const { signal } = new AbortController()
    const init = { method: 'PUT', headers: AUTHORIZED, signal }
    for (const body of [new Blob([bytes]), new Uint8Array(bytes)]) {
      const answer = await openFetch(t).fetch(`${url}/file/a`, { ...init, body })
      const seen = `PUT /file/a authorized, ${bytes.length} undefined true`
      assert.equal(answer.headers.get('x-seen'), seen)
      assert.deepEqual(await bytesOf(answer), bytes)
    }
  })

  it('ends a body that is refused on the way, and hears why', async (t) => {
    let pulled = 0
    const url = await serve(t, (_, response) => {
      response.writeHead(413, { Connection: 'close' }).end('too large')
    })
    const pull = (controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): void => {
      pulled += 1
      controller.enqueue(new Uint8Array(MIB))
    }
    const whole = { size: 1000 * MIB, type: '', stream: () => new ReadableStream({ pull }) }
    const body: ByteSource = { ...whole, slice: () => body }
    const { signal } = new AbortController()
    const init = { method: 'PUT', headers: {}, signal, body }
    const answer = await openFetch(t).fetch(`${url}/a`, init)
    assert.deepEqual([answer.status, await textOf(answer)], [413, 'too large'])
    assert.ok(pulled < 1000, 'not all of it was read')
  })

  it('takes 304 and 204 as they are, without a body', async (t) => {
    const url = await serve(t, ({ url: path }, response) => {
      response.writeHead(Number(path?.slice(1)), { ETag: '"a"' }).end()
    })
    for (const status of [204, 304]) {
      const answer = await get(openFetch(t), `${url}/${status}`)
      const { body, headers } = answer
      assert.deepEqual([answer.status, headers.get('etag'), body], [status, '"a"', null])
    }
  })

  it('ends with its signal, before, while it waits, and in the middle of a body', async (t) => {
    const url = await serve(t, ({ url: path }, response) => {
      if (path === '/half') response.writeHead(200, { 'Content-Length': 10 }).write('half')
    })
    const link = openFetch(t)
    const abort = new AbortController()
    const init = { method: 'GET', headers: {}, signal: abort.signal }
    const waiting = link.fetch(`${url}/never`, init)
    const half = await link.fetch(`${url}/half`, init)
    const reading = textOf(half)
    abort.abort(new Error('enough'))
    await Promise.all([assert.rejects(waiting), assert.rejects(reading)])
    await assert.rejects(link.fetch(url, init), { message: 'enough' })
  })

  it('has no connection left once it is closed', async (t) => {
    const ended: Promise<unknown>[] = []
    const url = await serve(t, (request, response) => {
      ended.push(once(request.socket, 'close'))
      response.end()
    })
    const link = createNodeFetch(undefined)
    await textOf(await get(link, url))
    link.close()
    await Promise.all(ended)
    assert.equal(ended.length, 1)
  })
})
