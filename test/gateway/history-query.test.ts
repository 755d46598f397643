import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serveGateway } from '../support/gateway.ts'
import { readObject, type Phone } from '../support/phone.ts'
import { RawClient } from '../support/raw-http.ts'

async function query(phone: Phone, init: RequestInit = {}): Promise<readonly unknown[]> {
  const response = await phone.fetch('/api/history/query', { method: 'POST', ...init })
  assert.equal(response.status, 200, `${response.status}`)
  assert.equal(response.headers.get('content-type'), 'application/json')
  const records: unknown = await response.json()
  assert.ok(Array.isArray(records), 'an array')
  return records
}

function form(fields: Readonly<Record<string, string>>): FormData {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.append(name, value)
  return body
}

function asJson(body: string, type = 'application/json'): RequestInit {
  return { body, headers: { 'content-type': type } }
}

describe('POST /api/history/query', () => {
  it('is understood in every encoding, and with keys in any letter case', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.pushText('hello')
    const bodies = (name: string, value: string): readonly RequestInit[] => [
      { body: form({ [name]: value }) },
      { body: new URLSearchParams({ [name]: value }) },
      asJson(JSON.stringify({ [name]: value })),
      asJson(`\ufeff ${JSON.stringify({ [name]: value })}`, 'text/json; charset=utf-8'),
      asJson(JSON.stringify({ [name]: value }), 'application/x-www-form-urlencoded'),
      asJson(` {"${name}":"${value}"}`, 'text/plain'),
    ]
    for (const name of ['types', 'Types', 'TYPES']) {
      for (const [index, body] of bodies(name, 'Image').entries()) {
        assert.deepEqual(await query(phone, body), [], String(index))
      }
      for (const body of bodies(name, 'Text')) assert.equal((await query(phone, body)).length, 1)
    }
    assert.deepEqual(await query(phone, asJson('{"page":2}')), [])
    assert.deepEqual(await query(phone, asJson('{"types":["Image","Group"],"page":null}')), [])
  })

  it('searches long texts one after the other, and four for a device at most', async (t) => {
    const { phone, port, authorization } = await serveGateway(t)
    await phone.pushText('x'.repeat(15 * 2 ** 20))
    const clients: RawClient[] = []
    while (clients.length < 6) clients.push(await RawClient.open(t, port))
    const body = '{"searchText":"y"}'
    const head = `POST /api/history/query HTTP/1.1\r\nHost: box\r\nAuthorization: ${authorization}`
    // All are there before the first search has looked at sixty pieces.
    for (const client of clients) {
      client.send(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    }
    const answers = await Promise.all(clients.map((client) => client.read()))
    const statuses = answers.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [200, 200, 200, 200, 503, 503])
  })

  it('is content with a body that says nothing', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.pushText('hello')
    for (const init of [
      {},
      asJson(''),
      asJson('{}'),
      asJson('{"other":[[[[]]]],"__proto__":{"page":2}}'),
      asJson('%%%', 'text/plain'),
      { body: form({ data: 'x', sortByLastAccessed: 'true' }) },
      { body: '--b--\r\n', headers: { 'content-type': 'multipart/form-data; boundary=b' } },
    ]) {
      assert.equal((await query(phone, init)).length, 1, JSON.stringify(init))
    }
  })

  it('passes over files', async (t) => {
    const { phone, countBlobs } = await serveGateway(t)
    await phone.pushText('hello')
    const body = form({ page: '2' })
    body.append('data', new Blob(['x'.repeat(10_000)]), 'a')
    assert.deepEqual(await query(phone, { body }), [])
    assert.equal(await countBlobs(), 0)
  })

  it('refuses what is said to be JSON and is not', async (t) => {
    const { phone } = await serveGateway(t)
    for (const body of ['{', '[]', 'null', '1', '{"page":2} x']) {
      const response = await phone.fetch('/api/history/query', { method: 'POST', ...asJson(body) })
      const answer = [response.status, (await readObject(response))['code']]
      assert.deepEqual(answer, [400, 'BAD_BODY'], body)
    }
    const deep = asJson(`{"types":${'['.repeat(19_000)}${']'.repeat(19_000)}}`)
    await phone.pushText('hello')
    assert.equal((await query(phone, deep)).length, 1)
  })

  // Protocol: One of more than 200 units of UTF-16
  it('finds no text by more than 200 characters of it', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.pushText('a'.repeat(1000))
    for (const [length, count] of [
      [200, 1],
      [201, 0],
    ] as const) {
      const searchText = 'A'.repeat(length)
      assert.equal((await query(phone, asJson(JSON.stringify({ searchText })))).length, count)
      assert.equal((await query(phone, { body: form({ searchText }) })).length, count)
    }
  })

  // Protocol: of 64 KiB, or 413
  it('takes a body of 64 KiB, and no more', async (t) => {
    const { phone } = await serveGateway(t)
    await phone.pushText('hello')
    const long = 'x'.repeat(64 * 1024)
    const json = asJson(`{"types":"${'1,'.repeat(32_000)}"}`.padEnd(long.length))
    assert.equal((await query(phone, json)).length, 1)
    const withFile = form({})
    withFile.append('data', new Blob([long]), 'a')
    for (const init of [
      { body: form({ searchText: long }) },
      { body: withFile },
      { body: `page=${long}` },
      asJson(`{"page":"${long}"}`),
    ]) {
      const response = await phone.fetch('/api/history/query', { method: 'POST', ...init })
      assert.equal(response.status, 413)
      await response.arrayBuffer()
    }
  })
})
