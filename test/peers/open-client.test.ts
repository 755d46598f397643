import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SendInit } from '../../src/client/server.ts'
import { MIB } from '../../src/core/limits.ts'
import { MemoryTurn } from '../../src/lib/memory-turn.ts'
import { openClient, withCircleTime } from '../../src/peers/open-client.ts'
import type { CircleTime } from '../../src/ports/circle-time.ts'
import { PASSWORD, startFakeGateway, USER } from '../client/support/fake-gateway.ts'
import { quickClock } from '../support/quick-clock.ts'

function watchTime() {
  const learnt: number[] = []
  const time: CircleTime = {
    now: () => 1_700_000_000_000,
    learn: (at) => void learnt.push(at),
    believes: () => true,
  }
  return { learnt, time }
}

const { signal } = new AbortController()
const INIT: SendInit = { method: 'GET', headers: { accept: 'a/b' }, signal }

describe('requests to another member', () => {
  it('say the time of the group, and everything else as before', async () => {
    const sent: unknown[] = []
    const send = withCircleTime(async (url, { method, headers }) => {
      sent.push([url, method, headers])
      return new Response()
    }, watchTime().time)
    await send('http://node/Sync.json', INIT)
    const headers = { accept: 'a/b', 'X-Clipgate-Time': '1700000000000' }
    assert.deepEqual(sent, [['http://node/Sync.json', 'GET', headers]])
  })

  it('learn it from answers of success, and from no others', async () => {
    const { learnt, time } = watchTime()
    const ask = async (status: number, value: string): Promise<void> => {
      const headers = { 'X-Clipgate-Time': value }
      const send = withCircleTime(async () => new Response(null, { status, headers }), time)
      assert.equal((await send('http://node/', INIT)).status, status)
    }
    await ask(200, '1')
    await ask(206, '2')
    await ask(304, '3')
    for (const value of ['soon', '5, 6', '-7']) await ask(200, value)
    for (const status of [401, 403, 404, 429, 500, 503]) await ask(status, '4')
    assert.deepEqual(learnt, [1, 2, 3])
  })
})

describe('a long document of another member', () => {
  it('has its turn where memory is short, unlike a short one, until it has become the item', async (t) => {
    let settle = (): void => undefined
    const after = (ms: number, act: () => void): (() => void) => {
      if (ms < 1000) settle = act
      return () => undefined
    }
    const clock = { ...quickClock, after }
    const events: string[] = []
    MemoryTurn.of(clock).holder = {
      isTight: true,
      giveWay: async () => void events.push('give way'),
      goOn: () => void events.push('go on'),
    }
    let text = 'short'
    const { url } = await startFakeGateway(t, (response) => {
      const body = JSON.stringify({ type: 'Text', text, hasData: false })
      const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length }
      response.writeHead(200, headers).end(body)
    })
    const client = openClient({ url, username: USER, password: PASSWORD }, { clock })
    t.after(() => client.close())
    for (text of ['short', 'a'.repeat(2 * MIB), 'b'.repeat(2 * MIB)]) {
      assert.equal((await client.latest()).text, text)
      events.push(text.slice(0, 5))
      settle()
      await new Promise(setImmediate)
    }
    const turns = ['aaaaa', 'bbbbb'].flatMap((own) => ['give way', own, 'go on'])
    assert.deepEqual(events, ['short', ...turns])
  })
})
