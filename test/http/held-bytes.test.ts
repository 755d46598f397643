import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HeldBytes } from '../../src/http/held-bytes.ts'
import { route } from '../../src/http/call.ts'
import { readBytes } from '../../src/http/read-body.ts'
import { text } from '../../src/http/reply.ts'
import { head, serveKernel } from '../support/http-kernel.ts'
import { MIB } from '../../src/core/limits.ts'

const OVERLOADED = { code: 'OVERLOADED', status: 503 }

describe('what requests keep in memory', () => {
  it('is two of the longest documents, and any number of short ones', () => {
    const held = new HeldBytes()
    const shares = [held.open('a'), held.open('b')]
    for (const share of shares) share.hold(16 * MIB, 16 * MIB)
    assert.throws(() => held.open('c').hold(100_000, 100_000), OVERLOADED)
    for (let index = 0; index < 1000; index++) held.open('c').hold(64 * 1024, 16 * MIB)
    shares[0]?.giveBack()
    held.open('c').hold(100_000, 100_000)
  })

  it('is one of the longest documents of one client', () => {
    const held = new HeldBytes()
    const first = held.open('a')
    first.hold(10 * MIB, 10 * MIB)
    assert.throws(() => held.open('a').hold(7 * MIB, 7 * MIB), OVERLOADED)
    held.open('a').hold(6 * MIB, 6 * MIB)
    held.open('b').hold(16 * MIB, 16 * MIB)
    first.giveBack()
    held.open('a').hold(10 * MIB, 10 * MIB)
  })

  it('is set aside as a whole when it is known not to be short', () => {
    const held = new HeldBytes()
    const growing = held.open('a')
    growing.hold(65_536, 16 * MIB)
    held.open('b').hold(12 * MIB, 12 * MIB)
    held.open('c').hold(8 * MIB, 8 * MIB)
    assert.throws(() => growing.hold(1, 16 * MIB), OVERLOADED)
    const lucky = held.open('a')
    lucky.hold(65_537, 12 * MIB)
    // Whoever got in is never turned away halfway.
    lucky.hold(12 * MIB, 12 * MIB)
    lucky.giveBack()
    held.open('d').hold(12 * MIB, 12 * MIB)
  })

  it('may be more than one client gets, when it keeps nothing else', () => {
    const held = new HeldBytes()
    held.open('a').hold(100 * MIB, 100 * MIB)
    assert.throws(() => held.open('a').hold(65_537, 65_537), OVERLOADED)
    held.open('b').hold(65_537, 65_537)
  })
})

describe('a long body', () => {
  it('is refused before a byte of it while others are read, and taken after them', async (t) => {
    const limit = 16 * MIB
    const take = route(
      'PUT',
      '/take',
      async (call) => text(`${(await readBytes(call, limit)).length}`),
      { maxBody: limit },
    )
    let client = 'a'
    const nameOf = (): string => client
    const { connect } = await serveKernel(t, { routes: [take], nameOf })
    const long = head('PUT /take', `Content-Length: ${limit}`, 'Expect: 100-continue')
    const open = [await connect(), await connect()]
    for (const [index, connection] of open.entries()) {
      client = ['a', 'b'][index] ?? ''
      assert.equal((await connection.send(long).read()).status, 100)
      // Its own share is used up, and nobody else's.
      assert.equal((await (await connect()).send(long).read()).status, 503)
    }
    client = 'c'
    const chunked = head('PUT /take', 'Transfer-Encoding: chunked')
    const refusals = [long, `${chunked}20000\r\n${'x'.repeat(0x20000)}\r\n`]
    for (const bytes of refusals) {
      const answer = await (await connect()).send(bytes).read()
      assert.equal(answer.status, 503)
      assert.equal(answer.headers['retry-after'], '1')
    }
    const short = head('PUT /take', 'Content-Length: 2')
    assert.equal((await (await connect()).send(`${short}hi`).read()).body, '2')

    // One leaves, and one is answered.
    const [left, stays] = open
    left?.socket.end()
    assert.equal((await left?.read())?.status, 400)
    stays?.send('x'.repeat(limit))
    assert.equal((await stays?.read())?.body, `${limit}`)
    for (let round = 0; round < 3; round++) {
      const connection = await connect()
      assert.equal((await connection.send(long).read()).status, 100)
      assert.equal((await connection.send('x'.repeat(limit)).read()).body, `${limit}`)
    }
  })
})
