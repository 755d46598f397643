import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createRawServer, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { FetchedResponse } from '../../src/client/server.ts'
import { MIB } from '../../src/core/limits.ts'
import { createNodeFetch, type NodeFetch } from '../../src/fetch/node-fetch.ts'
import { freeBytes } from '../../src/lib/read-bytes.ts'
import { startTlsServer } from '../peers/support/tls-server.ts'
import { makeCertificate } from '../support/certificates.ts'
import { listen } from '../support/listen.ts'
import { needs } from '../support/requirements.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { sha256 } from '../support/hashes.ts'

const BYTES = randomBytes(24 * MIB)

/** Enough for all of it, if nothing held it back. */
const TURNS = 1000

function openFetch(t: TestContext, fingerprint?: string): NodeFetch {
  const opened = createNodeFetch(fingerprint)
  t.after(() => opened.close())
  return opened
}

function get(
  { fetch }: NodeFetch,
  url: string,
  { method = 'GET', signal = new AbortController().signal } = {},
): Promise<FetchedResponse> {
  return fetch(url, { method, headers: {}, signal })
}

async function* chunksOf({ body }: FetchedResponse): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  for (;;) {
    const { value } = (await reader?.read()) ?? {}
    if (value === undefined) return
    yield value
  }
}

/** Reads it as an upload is stored: what was used up is given back. */
async function readAndFree(
  answer: FetchedResponse,
): Promise<{ readonly hash: string; readonly memories: number }> {
  const hash = createHash('sha256')
  const memories = new Set<ArrayBufferLike>()
  for await (const chunk of chunksOf(answer)) {
    hash.update(chunk)
    memories.add(chunk.buffer)
    freeBytes(chunk)
  }
  return { hash: hash.digest('hex'), memories: memories.size }
}

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(t, createServer(answer))}`
}

/** Sends pieces of all sizes, the first of them with the head. */
async function sendInPieces(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'Content-Length': BYTES.length })
  for (let at = 0, size = 1; at < BYTES.length; at += size, size = (size * 7) % 300_007) {
    if (!response.write(BYTES.subarray(at, at + size))) await once(response, 'drain')
  }
  response.end()
}

const answerInPieces: RequestListener = ({ url }, response) => {
  if (url === '/short') response.end('short')
  else void sendInPieces(response)
}

async function comesWhole(link: NodeFetch, url: string): Promise<void> {
  const { hash, memories } = await readAndFree(await get(link, url))
  assert.equal(hash, sha256(BYTES))
  assert.ok(memories < 10, `${memories} buffers were made`)
  // Nothing waits for the connection of the long one.
  assert.equal((await readAndFree(await get(link, `${url}/short`))).hash, sha256('short'))
}

describe('the long body of an answer', () => {
  it('comes whole, in memory that is used again', async (t) => {
    await comesWhole(openFetch(t), await serve(t, answerInPieces))
  })

  it('comes whole over TLS', needs('openssl'), async (t) => {
    const certificate = await makeCertificate(await temporaryFolder(t), 'pinned')
    const { url } = await startTlsServer(t, certificate, answerInPieces)
    await comesWhole(openFetch(t, certificate.fingerprint), url)
  })

  it('stays as it is for a reader that keeps it', async (t) => {
    const url = await serve(t, answerInPieces)
    const chunks: Uint8Array[] = []
    for await (const chunk of chunksOf(await get(openFetch(t), url))) chunks.push(chunk)
    assert.ok(Buffer.concat(chunks).equals(BYTES))
  })

  it('waits for a slow reader, and comes whole then', async (t) => {
    let hasEnded = false
    const url = await serve(t, (_, response) => {
      void sendInPieces(response)
      response.once('finish', () => (hasEnded = true))
    })
    const answer = await get(openFetch(t), url)
    for (let count = 0; count < TURNS && !hasEnded; count++) await turn()
    assert.equal(hasEnded, false)
    assert.equal((await readAndFree(answer)).hash, sha256(BYTES))
  })

  it('gives what came before the connection broke', async (t) => {
    const sent = 3 * MIB
    const url = await serve(t, (_, response) => {
      response.writeHead(206, { 'Content-Length': BYTES.length })
      response.write(BYTES.subarray(0, sent), () => response.socket?.end())
    })
    const chunks: Uint8Array[] = []
    const reading = async (): Promise<void> => {
      for await (const chunk of chunksOf(await get(openFetch(t), url))) chunks.push(chunk)
    }
    await assert.rejects(reading())
    assert.ok(Buffer.concat(chunks).equals(BYTES.subarray(0, sent)))
  })

  it('ends with its signal, with who opened it, and with a reader who wants no more', async (t) => {
    const closed: Promise<unknown>[] = []
    const url = await serve(t, ({ socket }, response) => {
      // It may hear that the other side has not read all of it.
      socket.on('error', () => undefined)
      closed.push(new Promise((resolve) => socket.once('close', resolve)))
      response.writeHead(200, { 'Content-Length': BYTES.length }).write(BYTES.subarray(0, 2 * MIB))
    })
    const link = openFetch(t)
    const abort = new AbortController()
    const aborted = readAndFree(await get(link, url, { signal: abort.signal }))
    abort.abort()
    await assert.rejects(aborted)
    await (await get(link, url)).body?.cancel()
    const cut = readAndFree(await get(link, url))
    link.close()
    await assert.rejects(cut)
    await Promise.all(closed)
    assert.equal(closed.length, 3)
  })

  it('is not waited for where there is none', async (t) => {
    const url = await serve(t, ({ url: path }, response) => {
      response.writeHead(Number(path?.slice(1)), { 'Content-Length': BYTES.length }).end()
    })
    const link = openFetch(t)
    assert.equal((await readAndFree(await get(link, `${url}/200`, { method: 'HEAD' }))).memories, 0)
    assert.equal((await get(link, `${url}/304`)).body, null)
  })

  it('ends where its length says so', async (t) => {
    const server = createRawServer((socket: Socket) => {
      socket.on('error', () => undefined)
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${2 * MIB}\r\n\r\n`)
      socket.write(BYTES.subarray(0, 2 * MIB + 100_000))
    })
    const url = `http://127.0.0.1:${await listen(t, server)}`
    const { hash } = await readAndFree(await get(openFetch(t), url))
    assert.equal(hash, sha256(BYTES.subarray(0, 2 * MIB)))
  })
})
