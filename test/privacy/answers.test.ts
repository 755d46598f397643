import assert from 'node:assert/strict'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { listOperations, readDescription } from '../docs/support/api-description.ts'
import { allCases } from '../docs/support/all-cases.ts'
import { isCalm, requestOf } from '../docs/support/case.ts'
import { openStation } from '../docs/support/station.ts'
import { startHeadless, startPaired } from '../faults/support/subject.ts'
import type { DaemonOptions } from '../support/daemon-process.ts'
import { basic, formatGet } from '../support/guarded-gateway.ts'
import { RawClient, type RawResponse } from '../support/raw-http.ts'
import { Search, secret, secretWord } from './support/secrets.ts'
import { TELLING_LIMITS, tellingRequests } from './support/telling-requests.ts'

const search = new Search()

/** No folder, no file of the program, no stack. */
const INNARDS = /\/tmp\/|\/home\/|\/root\/|node:|\.[tj]s:\d|\n? +at /

function assertSilent(answer: RawResponse, log: string, what: string): void {
  const whole = JSON.stringify([answer.headers, answer.body])
  assert.deepEqual(search.find(Buffer.from(whole, 'latin1')), [], what)
  assert.doesNotMatch(answer.body, INNARDS, what)
  assert.deepEqual(search.find(Buffer.from(log)), [], `${what}: the log`)
}

const operations = listOperations(readDescription())
// Others than these have requests of their own before them.
const failures = allCases(operations).filter(({ code }) => {
  return code !== undefined && code !== 'TOO_MANY_REQUESTS'
})
for (const operation of operations) {
  it(`an answer that tells of a failure repeats nothing of the request line and header of ${operation.method} ${operation.path}`, async (t) => {
    const calm = await openStation(t)
    for (const one of failures.filter((failure) => failure.operation === operation.id)) {
      const at = isCalm(one) ? calm : await openStation(t, one.options)
      await one.given?.(at)
      const told = requestOf(one, operation)
      const mark = secretWord('request header')
      const names = ['Cookie', 'Referer', 'User-Agent', 'X-Forwarded-For', 'X-Note']
      const fields = [...(told.fields ?? []), ...names.map((name) => `${name}: ${mark}`)]
      const note = `${told.target.includes('?') ? '&' : '?'}${secretWord('request line')}`
      const request = { ...told, target: told.target + note, fields }
      const answer = await (one.exchange?.(at, request) ?? at.ask(request))
      assert.equal(answer.status, one.status)
      assertSilent(answer, at.logger.text, `${one.code} ${one.when}`)
    }
  })
}

describe('a daemon', () => {
  async function start(t: TestContext, options: DaemonOptions = {}) {
    const args = ['--log-level', 'debug', ...TELLING_LIMITS, ...(options.args ?? [])]
    const { daemon, phone } = await startPaired(t, { ...options, args })
    const { port } = new URL(daemon.ready.gateway)
    const ask = async (bytes: string): Promise<RawResponse> => {
      const client = await RawClient.open(t, Number(port))
      const answer = await client.send(bytes).read()
      client.close()
      return answer
    }
    return { ...daemon, phone, ask }
  }

  it('repeats nothing of any request, in no answer and in no log', async (t) => {
    const { phone, ask, stderr } = await start(t)
    const dataName = secretWord('file name')
    await phone.pushFile('File', dataName, Buffer.from(secret('file content')))
    for (const { what, bytes, code } of tellingRequests(phone.authorization, dataName)) {
      const answer = await ask(bytes)
      assert.equal(answer.headers['content-type'], 'application/problem+json', what)
      assert.equal(JSON.parse(answer.body).code, code, what)
      assertSilent(answer, stderr(), what)
    }
  })

  it('repeats nothing of the passwords that somebody guesses', async (t) => {
    const { ask, stderr } = await start(t, { args: ['--verify-queue', '4'] })
    const guesses = Array.from({ length: 50 }, (_, number) => {
      return ask(formatGet(basic('mobile_01', `${secret('wrong password')} ${number}`)))
    })
    const statuses = new Set<number>()
    for (const answer of await Promise.all(guesses)) {
      statuses.add(answer.status)
      assertSilent(answer, stderr(), `a guess: ${answer.status}`)
    }
    assert.deepEqual(
      [...statuses].filter((status) => ![401, 429, 503].includes(status)),
      [],
    )
    assert.ok(statuses.size > 1, `only ${[...statuses].join()}`)
  })

  it('tells of a failure of its own by an id, which the log has too', async (t) => {
    const { phone, folder, stderr } = await start(t)
    await phone.pushFile('File', secretWord('file name'), Buffer.from(secret('file content')))
    const blobs = join(folder, 'data', 'blobs')
    await rename(blobs, join(folder, 'elsewhere'))
    await writeFile(blobs, '')
    const put = { method: 'PUT', body: secret('request body') }
    for (const [path, request] of [
      [`/file/${secretWord('request line')}?${secretWord('request line')}`, put],
      [`/file/${secretWord('file name')}`, {}],
    ] as const) {
      const response = await phone.fetch(path, request)
      const body = await response.text()
      const { code, id } = JSON.parse(body)
      assert.deepEqual([response.status, code], [500, 'INTERNAL'])
      assert.match(stderr(), new RegExp(`id="${id}"`))
      const headers = Object.fromEntries(response.headers)
      assertSilent({ status: response.status, headers, body }, stderr(), path)
    }
  })

  it('repeats nothing when there is no room, and when it stops', async (t) => {
    const args = ['--min-free-bytes', '1000TiB', '--grace', '5m']
    const { phone, ask, child, stderr, ready } = await start(t, { args })
    const login = `Authorization: ${phone.authorization}`
    const line = `/file/${secretWord('request line')}`
    const put = `PUT ${line} HTTP/1.1\r\nHost: box\r\n${login}\r\n`
    const full = await ask(`${put}Content-Length: 26\r\n\r\n${secretWord('request body')}`)
    assert.equal(full.status, 507)
    assertSilent(full, stderr(), 'no room')

    // Something that the daemon waits for.
    const busy = await RawClient.open(t, Number(new URL(ready.gateway).port))
    const head = 'PUT /Sync.json HTTP/1.1\r\nHost: box\r\nContent-Length: 9\r\n'
    busy.send(`${head}Expect: 100-continue\r\n${login}\r\n\r\n`)
    assert.equal((await busy.read()).status, 100)
    child.kill('SIGTERM')
    let draining = await ask(formatGet(login))
    while (draining.status === 200) draining = await ask(formatGet(login))
    assert.equal(draining.status, 503)
    const told = await ask(`${put}X-Note: ${secretWord('request header')}\r\n\r\n`)
    assert.equal(told.status, 503)
    assertSilent(told, stderr(), 'stopping')
  })
})

it('the control listener repeats nothing to those who have no token, and no password to its owner', async (t) => {
  const daemon = await startHeadless(t, { args: ['--log-level', 'debug'] })
  const token = (await readFile(join(daemon.folder, 'data', 'control.token'), 'utf8')).trim()
  const { port, host } = new URL(daemon.ready.control)
  const mark = secretWord('request header')
  const owner = `Authorization: Bearer ${token}`
  const body = secret('request body').replaceAll('é', 'e')
  const device = { kind: 'phone', password: secret('password').slice(0, 7) }
  for (const [status, line, content, ...fields] of [
    [401, `GET /${mark}`, ''],
    [401, 'GET /devices', '', `Authorization: Bearer ${mark}`],
    [401, 'GET /devices', '', owner, `Authorization: Bearer ${mark}`],
    [401, 'GET /devices', '', `Authorization: Basic ${mark}`],
    [401, 'POST /devices', JSON.stringify({ ...device, label: body })],
    [403, 'GET /devices', '', owner, `Origin: http://${mark}`],
    [404, `GET /${mark}`, '', owner],
    [405, `PUT /devices?${mark}`, '', owner],
    [400, 'POST /devices', `{"kind":"phone","password":"${body}`, owner],
    [400, 'POST /devices', JSON.stringify({ kind: body }), owner],
    [400, 'POST /devices', JSON.stringify({ ...device, label: 5 }), owner],
    [400, 'POST /devices', JSON.stringify(device), owner],
    [400, 'POST /devices', JSON.stringify({ kind: 'phone', label: body.repeat(9) }), owner],
    [400, 'POST /devices', JSON.stringify({ kind: 'phone', username: body }), owner],
    [400, 'POST /devices', JSON.stringify({ kind: 'phone', url: `ftp://${body}` }), owner],
  ] as const) {
    const client = await RawClient.open(t, Number(port))
    const length = `Content-Length: ${content.length}`
    const head = [`${line} HTTP/1.1`, `Host: ${host}`, `X-Note: ${mark}`, length, ...fields]
    const answer = await client.send([...head, '', content].join('\r\n')).read()
    assert.equal(answer.status, status, `${line} ${content}: ${answer.body}`)
    assertSilent(answer, daemon.stderr(), `${line} ${content}`)
  }
  assert.ok(!daemon.stderr().includes(token))
})
