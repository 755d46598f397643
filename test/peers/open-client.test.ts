import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SendInit } from '../../src/client/server.ts'
import { withCircleTime } from '../../src/peers/open-client.ts'
import type { CircleTime } from '../../src/ports/circle-time.ts'

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
    for (const [status, value] of [
      [200, '1'],
      [206, '2'],
      [304, '3'],
      [200, 'soon'],
      [200, '5, 6'],
      [200, '-7'],
      [401, '8'],
      [403, '9'],
      [404, '10'],
      [429, '11'],
      [500, '12'],
      [503, '13'],
    ] as const) {
      const headers = { 'X-Clipgate-Time': value }
      const send = withCircleTime(async () => new Response(null, { status, headers }), time)
      assert.equal((await send('http://node/', INIT)).status, status)
    }
    assert.deepEqual(learnt, [1, 2, 3])
  })
})
