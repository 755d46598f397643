import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { connect as dial, createServer } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { openServer, type ByteSource } from '../../src/client/server.ts'
import { sendFile, type Upload } from '../../src/client/upload.ts'
import { commit, serveUploads } from '../gateway/support/upload-client.ts'
import { defer } from '../support/defer.ts'
import { listen } from '../support/listen.ts'
import { LASTING, PASSING } from '../support/passing-statuses.ts'
import { quickClock } from '../support/quick-clock.ts'
import {
  PASSWORD,
  startFakeGateway,
  USER,
  type Received,
  type Respond,
} from './support/fake-gateway.ts'
import { MIB } from '../../src/core/limits.ts'

const LARGE = new Blob([randomBytes(10 * MIB)])
const NAME = { dataName: 'film', mediaType: 'video/mp4' }

function clientOf(url: string, username = USER, password = PASSWORD, clock = quickClock) {
  const credentials = { url, username, password }
  const server = openServer(credentials, { clock, random: () => 0 })
  return { upload: (bytes: ByteSource, upload: Upload) => sendFile(server, bytes, upload) }
}

interface Wire {
  readonly url: string
  /** Bytes that came from the client. */
  readonly bytes: number
}

/** Stands before a port; cuts a connection each time that the bytes of its budget have come. */
async function cutAfter(t: TestContext, port: number, budgets: readonly number[]): Promise<Wire> {
  let bytes = 0
  let [left = Infinity, ...others] = budgets
  const server = createServer((near) => {
    const far = dial(port, '127.0.0.1')
    t.after(() => far.destroy())
    for (const socket of [near, far]) socket.on('error', () => undefined)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
    far.pipe(near)
    near.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      left -= chunk.length
      if (left > 0) return void far.write(chunk)
      ;[left = Infinity, ...others] = others
      far.write(chunk, () => near.destroy())
    })
  })
  const url = `http://127.0.0.1:${await listen(t, server)}`
  return {
    url,
    get bytes() {
      return bytes
    },
  }
}

describe('a large file', () => {
  it('goes on where it was cut, as often as that happens, and is sent once', async (t) => {
    const at = await serveUploads(t)
    const wire = await cutAfter(t, at.port, [3 * MIB, 500, MIB, 2 * MIB, 100_000])
    const client = clientOf(wire.url, at.device.username, at.password)
    await client.upload(LARGE, NAME)
    assert.ok(wire.bytes < LARGE.size + 5 * MIB, `${wire.bytes} of ${LARGE.size}`)
    assert.equal(await commit(at, 'film'), 200)
    assert.ok(Buffer.from(await LARGE.arrayBuffer()).equals(await at.phone.download()))
    const { headers } = await at.phone.fetch('/file/film')
    assert.equal(headers.get('content-type'), 'video/mp4')
  })

  it('begins anew when the server has given up what had come', async (t) => {
    const at = await serveUploads(t)
    const wire = await cutAfter(t, at.port, [3 * MIB])
    const client = clientOf(wire.url, at.device.username, at.password)
    let found = 0
    const { find } = at.storage.staging
    at.storage.staging.find = (...given) => {
      found += 1
      return found === 2 ? undefined : find.apply(at.storage.staging, given)
    }
    await client.upload(LARGE, NAME)
    assert.equal(await commit(at, 'film'), 200)
    assert.ok(Buffer.from(await LARGE.arrayBuffer()).equals(await at.phone.download()))
  })
})

/** What a gateway answers that offers uploads; by method. */
type Answers = Readonly<Record<string, (request: Received, nth: number) => Answer>>

interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Hangs up instead. */
  readonly isCut?: boolean
}

const OFFERS: Answers = {
  OPTIONS: () => ({ status: 204, headers: { 'Upload-Limit': 'max-size=1' } }),
  PUT: ({ headers }) => {
    const isBegun = headers['upload-complete'] !== undefined
    return isBegun ? { status: 201, headers: { Location: '/file-uploads/x' } } : { status: 200 }
  },
  HEAD: () => ({ status: 204, headers: { 'Upload-Offset': '5', 'Upload-Complete': '?0' } }),
  PATCH: () => ({ status: 200, headers: { 'Upload-Complete': '?1' } }),
  DELETE: () => ({ status: 204 }),
}

/** A server that answers so, and a client of it. */
async function startServer(t: TestContext, given: Partial<Answers> = {}, clock = quickClock) {
  const answers = { ...OFFERS, ...given }
  const asked: Record<string, number> = {}
  const respond: Respond = (response, request) => {
    const { method = '' } = request
    asked[method] = (asked[method] ?? 0) + 1
    const answer = answers[method]?.(request, asked[method])
    if (answer?.isCut === true) return void response.socket?.destroy()
    response.writeHead(answer?.status ?? 500, { ...answer?.headers }).end()
  }
  const { url, received } = await startFakeGateway(t, respond)
  const lines = () => received.map(({ method, url: path }) => `${method} ${path}`)
  return { client: clientOf(url, USER, PASSWORD, clock), received, lines }
}

const CUT: Answer = { status: 0, isCut: true }

describe('an upload of the client', () => {
  it('is one plain request when it is small', async (t) => {
    const { client, lines } = await startServer(t)
    await client.upload(new Blob(['hello']), NAME)
    assert.deepEqual(lines(), ['PUT /file/film'])
  })

  it('says its length and type when it begins, and comes in one piece', async (t) => {
    const { client, received, lines } = await startServer(t)
    await client.upload(LARGE, NAME)
    assert.deepEqual(lines(), ['OPTIONS /file/film', 'PUT /file/film', 'PATCH /file-uploads/x'])
    const [, begun, rest] = received
    assert.equal(begun?.headers['upload-complete'], '?0')
    assert.equal(begun?.headers['upload-length'], String(LARGE.size))
    assert.equal(begun?.headers['content-type'], 'video/mp4')
    assert.equal(begun?.body.length, 0)
    assert.equal(rest?.headers['content-type'], 'application/partial-upload')
    assert.equal(rest?.headers['upload-complete'], '?1')
    assert.equal(rest?.headers['upload-offset'], '0')
    assert.equal(rest?.body.length, LARGE.size)
  })

  const plain: readonly (readonly [string, Partial<Answers>])[] = [
    ['has no such method', { OPTIONS: () => ({ status: 405 }) }],
    ['knows no limits', { OPTIONS: () => ({ status: 200 }) }],
    ['does not know the place that it said', { PATCH: () => ({ status: 404 }) }],
    ['says nothing of a place', { PUT: () => ({ status: 200 }) }],
    [
      'says a place of somebody else',
      {
        PUT: ({ headers }) =>
          headers['upload-complete'] === undefined
            ? { status: 200 }
            : { status: 201, headers: { Location: 'http://127.0.0.1:1/x' } },
      },
    ],
  ]
  for (const [what, answers] of plain) {
    it(`is a plain one where the server ${what}`, async (t) => {
      const { client, received } = await startServer(t, answers)
      await client.upload(LARGE, NAME)
      const last = received.at(-1)
      assert.deepEqual([last?.method, last?.url], ['PUT', '/file/film'])
      assert.equal(last?.headers['upload-complete'], undefined)
      assert.equal(last?.body.length, LARGE.size)
    })
  }

  it('is done when only the last answer was lost', async (t) => {
    const { client, lines } = await startServer(t, {
      PATCH: () => CUT,
      HEAD: () => ({
        status: 204,
        headers: { 'Upload-Offset': String(LARGE.size), 'Upload-Complete': '?1' },
      }),
    })
    await client.upload(LARGE, NAME)
    assert.equal(lines().at(-1), 'HEAD /file-uploads/x')
  })

  for (const status of PASSING) {
    it(`goes on after ${status}, from the offset that the server tells`, async (t) => {
      const { client, received } = await startServer(t, {
        PATCH: (_, nth) => ({ status: nth === 1 ? status : 200 }),
      })
      await client.upload(LARGE, NAME)
      const last = received.at(-1)
      assert.equal(last?.headers['upload-offset'], '5')
      assert.equal(last?.body.length, LARGE.size - 5)
    })
  }

  it('is given up after attempts that bring nothing, and says why', async (t) => {
    const { client, lines } = await startServer(t, { PATCH: () => CUT })
    await assert.rejects(client.upload(LARGE, NAME), { code: 'UNREACHABLE' })
    assert.ok(lines().length < 20)
  })

  for (const status of LASTING) {
    it(`is given up at once when it is refused with ${status}`, async (t) => {
      const { client, lines } = await startServer(t, { PATCH: () => ({ status }) })
      await assert.rejects(client.upload(LARGE, NAME), { status })
      assert.equal(lines().length, 3)
    })
  }

  it('fails when the server tells an offset that cannot be', async (t) => {
    for (const offset of ['-1', '1.5', 'x', String(LARGE.size + 1)]) {
      const { client } = await startServer(t, {
        PATCH: () => CUT,
        HEAD: () => ({ status: 204, headers: { 'Upload-Offset': offset } }),
      })
      await assert.rejects(client.upload(LARGE, NAME), { code: 'BAD_ANSWER' })
    }
  })

  for (const [when, patch] of [
    ['it is on its way', CUT],
    ['the next attempt is awaited', { status: 503, headers: { 'Retry-After': '77' } }],
  ] as const) {
    it(`is given up on the server too when the caller aborts it while ${when}`, async (t) => {
      const abort = new AbortController()
      const end = () => abort.abort(new Error('not any more'))
      const deleted = defer<void>()
      const after: typeof quickClock.after = (delayMs, run) => {
        if (delayMs === 77_000) queueMicrotask(end)
        return quickClock.after(delayMs, run)
      }
      const answers: Partial<Answers> = {
        PATCH: () => {
          if (patch === CUT) end()
          return patch
        },
        DELETE: () => {
          deleted.resolve()
          return { status: 204 }
        },
      }
      const { client } = await startServer(t, answers, { ...quickClock, after })
      const { signal } = abort
      await assert.rejects(client.upload(LARGE, { ...NAME, signal }), { message: 'not any more' })
      await deleted.promise
    })
  }
})
