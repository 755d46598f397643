/**
 * Uploads and downloads through a proxy.
 * @module
 */

import assert from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { GIB, KIB, MIB } from '../../src/core/limits.ts'
import { byNight } from '../support/night.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { curl, loginOf, type CurlAnswer } from './support/curl.ts'
import type { ClientAnswer, ClientRequest, HttpVersion } from './support/https-client.ts'
import { sha256Of } from '../support/hashes.ts'
import { makeLargeFile } from '../support/large-file.ts'
import { storedBytes, untilStored, type ProxiedDaemon } from './support/proxied-daemon.ts'

/** More than any of them has memory or room to spare for. */
const LARGE: number = byNight(GIB, { byDay: GIB / 4 })

/** More than a proxy may look at before it passes anything on. */
const FIRST_PART: number = 8 * MIB

/** `Expect: 100-continue`: curl waits so before each upload. */
export async function testUploadsThatWait(
  t: TestContext,
  site: ProxiedDaemon,
  version: HttpVersion,
): Promise<void> {
  const headers = { authorization: site.phone.authorization, expect: '100-continue' }
  const body = Buffer.alloc(300 * KIB, version)
  const answer = await site
    .through(t, version)
    .send({ method: 'PUT', path: '/file/waits', headers, body: chunksOf(body, 64 * KIB) })
  assert.equal(answer.status, 200)
  // HTTP/2 leaves it to the libraries of clients. Caddy sometimes gives leave twice, once of its
  // own: clients have to bear that (RFC 9110, 15.2).
  assert.equal(answer.continues > 0, version === 'HTTP/1.1')
  await commit(t, site, 'waits')
  assert.equal((await site.phone.download()).equals(body), true)
}

/** Up with HTTP/1.1 and without saying how much it is, down with HTTP/2. */
export async function testLargeFiles(t: TestContext, site: ProxiedDaemon): Promise<void> {
  const { phone, proxy, daemon } = site
  const file = await makeLargeFile(join(await temporaryFolder(t), 'large'), LARGE)
  const { authorization } = phone

  const before = await storedBytes(daemon)
  const body = (async function* () {
    let sent = 0
    for await (const chunk of createReadStream(file.path, { highWaterMark: MIB })) {
      yield chunk
      sent += chunk.length
      // The daemon has some of it while the rest has not been sent.
      if (sent === FIRST_PART) await untilStored(site, before)
    }
  })()
  const headers = { authorization }
  const up = site.through(t, 'HTTP/1.1')
  assert.equal((await up.send({ method: 'PUT', path: '/file/large', headers, body })).status, 200)
  await commit(t, site, 'large')

  const down = site.through(t, 'HTTP/2')
  const whole = await down.send({ path: '/file/large', headers: { authorization } })
  assert.equal(await sha256Of(whole.body), file.sha256)
  const range = `bytes=${file.size - 5 * MIB}-`
  const part = await down.send({ path: '/file/large', headers: { authorization, range } })
  assert.equal(part.status, 206)
  const end = createReadStream(file.path, { start: file.size - 5 * MIB })
  assert.equal((await buffer(part.body)).equals(await buffer(end)), true)

  assert.deepEqual(await proxy.spooled(), [])
}

/** Also of a client that would hear of interim answers, of which proxies know nothing. */
export async function testResumableUploads(
  t: TestContext,
  site: ProxiedDaemon,
  version: HttpVersion,
): Promise<void> {
  const { authorization } = site.phone
  const login = { authorization }
  const send = (request: ClientRequest): Promise<ClientAnswer> =>
    site.through(t, version).send({ ...request, headers: { ...login, ...request.headers } })
  const interop = { 'upload-draft-interop-version': '9' }
  for (const heard of [{}, interop]) {
    const begun = await send({
      method: 'PUT',
      path: '/file/parts',
      headers: { 'upload-complete': '?0', 'upload-length': '11', ...heard },
      body: 'hello',
    })
    assert.equal(begun.status, 201)
    const path = begun.headers['location'] ?? ''
    const part = {
      method: 'PATCH',
      path,
      headers: { 'content-type': 'application/partial-upload', ...heard },
    }
    const [more, last] = [{ 'upload-complete': '?0' }, { 'upload-complete': '?1' }]
    const patch = (offset: string, fields: Record<string, string>, body: string) =>
      send({ ...part, headers: { ...part.headers, 'upload-offset': offset, ...fields }, body })
    assert.equal((await patch('4', more, ' ')).status, 409)
    assert.equal((await patch('5', more, ' ')).status, 204)
    const state = await send({ method: 'HEAD', path })
    assert.deepEqual([state.status, state.headers['upload-offset']], [204, '6'])
    const done = await patch('6', last, 'world')
    assert.deepEqual([done.status, done.headers['upload-complete']], [200, '?1'])
    await commit(t, site, 'parts')
    assert.equal(String(await site.phone.download()), 'hello world')

    const whole = { method: 'PUT', path: '/file/whole', headers: { ...last, ...heard } }
    assert.equal((await send({ ...whole, body: 'all at once' })).status, 200)
    await commit(t, site, 'whole')
    assert.equal(String(await site.phone.download()), 'all at once')
  }
  const limits = await send({ method: 'OPTIONS', path: '/file/a' })
  assert.deepEqual([limits.status, limits.headers['upload-limit']], [204, 'max-size=10737418240'])
}

/** A form as curl sends it, with the version of HTTP that it chooses. */
export async function testLargeForm(t: TestContext, site: ProxiedDaemon): Promise<void> {
  const file = await makeLargeFile(join(await temporaryFolder(t), 'large'), LARGE)
  const fields = ['type=File', `hash=${file.sha256}`, `data=@${file.path}`]
  const form = fields.flatMap((field) => ['--form', field])
  const { status, body } = await curl(site, '/api/history', ...loginOf(site), ...form)
  assert.equal(status, 200, body)
  // What the daemon has hashed itself.
  assert.equal((await site.phone.document())['hash'], file.sha256)
  assert.deepEqual(await site.proxy.spooled(), [])
}

/**
 * The client sends on at full speed, and gets to read the answer all the same. In HTTP/1.1 it is
 * curl: Caddy may reset the connection right behind the answer, which makes Node's client forget
 * what it has not read yet.
 */
export async function testRefusedUploads(
  t: TestContext,
  site: ProxiedDaemon,
  version: HttpVersion,
): Promise<void> {
  const { path, size } = await makeLargeFile(join(await temporaryFolder(t), 'large'), 64 * MIB)
  const send = version === 'HTTP/2' ? sendWithNode : sendWithCurl
  for (const [isKnown, isDeclared, ...expected] of [
    [true, true, 413, 'BODY_TOO_LARGE'],
    [true, false, 413, 'BODY_TOO_LARGE'],
    [false, true, 401, 'UNAUTHORIZED'],
  ] as const) {
    const { status, contentType, body } = await send(t, site, { path, size, isKnown, isDeclared })
    assert.deepEqual([status, Object(JSON.parse(body)).code], expected)
    assert.equal(contentType, 'application/problem+json')
  }
  assert.equal(await storedBytes(site.daemon), 0)
}

interface RefusedUpload {
  readonly path: string
  readonly size: number
  readonly isKnown: boolean
  /** Whether it says how long it is. */
  readonly isDeclared: boolean
}

async function sendWithNode(
  t: TestContext,
  site: ProxiedDaemon,
  { path, size, isKnown, isDeclared }: RefusedUpload,
): Promise<CurlAnswer> {
  const headers = {
    ...(isKnown ? { authorization: site.phone.authorization } : {}),
    ...(isDeclared ? { 'content-length': String(size) } : {}),
  }
  const request = { method: 'PUT', path: '/file/refused', headers, body: createReadStream(path) }
  const answer = await site.through(t, 'HTTP/2').send(request)
  const contentType = answer.headers['content-type'] ?? ''
  return { status: answer.status, contentType, body: await text(answer.body) }
}

function sendWithCurl(
  _t: TestContext,
  site: ProxiedDaemon,
  { path, isKnown, isDeclared }: RefusedUpload,
): Promise<CurlAnswer> {
  const login = isKnown ? loginOf(site) : []
  const framing = isDeclared ? [] : ['--header', 'Transfer-Encoding: chunked']
  const upload = ['--http1.1', '--header', 'Expect:', '--upload-file', path]
  return curl(site, '/file/refused', ...upload, ...login, ...framing)
}

async function commit(t: TestContext, site: ProxiedDaemon, dataName: string): Promise<void> {
  const { authorization } = site.phone
  const body = JSON.stringify({ type: 'File', dataName, hasData: true })
  const request = { method: 'PUT', path: '/Sync.json', headers: { authorization }, body }
  assert.equal((await site.through(t, 'HTTP/2').send(request)).status, 200)
}

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
