import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CircleTime } from '../../src/ports/circle-time.ts'
import { createPhone, readObject } from '../support/phone.ts'
import { serveGateway } from '../support/gateway.ts'
import { sha256 } from '../support/hashes.ts'

const TEXT = '{"type":"Text","text":"a"}'

const FIELD = 'X-Clipgate-Time'

function watchTime() {
  const learnt: number[] = []
  const circleTime: CircleTime = {
    now: () => 1_700_000_000_000,
    learn: (at) => void learnt.push(at),
    believes: () => true,
  }
  return { learnt, circleTime }
}

describe('the time of the group', () => {
  // Protocol: field `X-Clipgate-Time`
  it('is told to a peer with each answer, and learnt from its requests', async (t) => {
    const { learnt, circleTime } = watchTime()
    const at = await serveGateway(t, { circleTime })
    const {
      device: { username },
      password,
    } = await at.devices.add({ kind: 'peer' })
    const peer = createPhone({ username, password }, at.url)
    await peer.pushFile('File', 'a.bin', Buffer.from('bytes'))
    assert.deepEqual(learnt, [])
    const init = { headers: { [FIELD]: '1700000000123' } }
    const first = await peer.fetch('/Sync.json', init)
    const etag = first.headers.get('etag') ?? ''
    const again = { headers: { ...init.headers, 'If-None-Match': etag } }
    const answers = [
      [200, first],
      [304, await peer.fetch('/Sync.json', again)],
      [200, await peer.fetch('/file/a.bin', init)],
      [206, await peer.fetch('/file/a.bin', { headers: { ...init.headers, Range: 'bytes=1-2' } })],
      [200, await peer.fetch('/file/b.bin', { ...init, method: 'PUT', body: 'x' })],
      [200, await peer.fetch('/Sync.json', { ...init, method: 'PUT', body: TEXT })],
      [200, await peer.fetch('/api/sse/clipboard', init)],
    ] as const
    for (const [status, answer] of answers) {
      assert.deepEqual([answer.status, answer.headers.get(FIELD)], [status, '1700000000000'])
      await answer.body?.cancel()
    }
    assert.deepEqual(
      learnt,
      answers.map(() => 1_700_000_000_123),
    )
  })

  it('is neither told to a phone nor to a stranger, nor learnt from them', async (t) => {
    const { learnt, circleTime } = watchTime()
    const at = await serveGateway(t, { circleTime })
    const headers = { [FIELD]: '1700000000123' }
    for (const path of ['/Sync.json', '/', '/api/time', '/file', '/api/version', '/nowhere']) {
      const answer = await at.phone.fetch(path, { headers })
      assert.equal(answer.headers.get(FIELD), null, path)
      const refused = await fetch(`${at.url}${path}`, { headers })
      assert.deepEqual([refused.status, refused.headers.get(FIELD)], [401, null])
    }
    assert.deepEqual(learnt, [])
  })
})

describe('a document of a peer', () => {
  it('never takes an earlier upload of the same name, which a broken link left', async (t) => {
    const { circleTime } = watchTime()
    const at = await serveGateway(t, { circleTime })
    const { device, password } = await at.devices.add({ kind: 'peer' })
    const peer = createPhone({ username: device.username, password }, at.url)
    const [older, newer] = [Buffer.from('the older photo'), Buffer.from('the newer photo')]
    const upload = (body: Buffer) => peer.fetch('/file/image.bin', { method: 'PUT', body })
    for (const type of ['Group', 'File']) {
      const document = {
        ...{ type, text: '', hasData: true, dataName: 'image.bin', hash: sha256(newer) },
        ...{ size: newer.length, stampedAt: circleTime.now(), stampedBy: 'm_0000000000000001' },
      }
      const push = () => peer.fetch('/Sync.json', { method: 'PUT', body: JSON.stringify(document) })
      assert.equal((await upload(older)).status, 200)
      assert.equal((await push()).status, 404, type)
      if (type === 'Group') continue
      assert.equal((await upload(newer)).status, 200)
      assert.equal((await push()).status, 200)
      assert.equal(String(await peer.download()), String(newer))
    }
  })

  it('is shown with its stamp as that counts then, and with another tag', async (t) => {
    let isBelieved = false
    const circleTime = { ...watchTime().circleTime, believes: () => isBelieved }
    const at = await serveGateway(t, { circleTime })
    const { device, password } = await at.devices.add({ kind: 'peer' })
    const peer = createPhone({ username: device.username, password }, at.url)
    let tag = '"none"'
    const shown = async () => {
      const answer = await peer.fetch('/Sync.json', { headers: { 'If-None-Match': tag } })
      assert.equal(answer.status, 200, 'it is another document')
      tag = answer.headers.get('etag') ?? ''
      const { stampedAt, stampedBy } = await readObject(answer)
      return [stampedAt, stampedBy]
    }
    const push = async (stampedBy: string) => {
      const body = JSON.stringify({ type: 'Text', text: 'a', stampedAt: 5, stampedBy })
      assert.equal((await peer.fetch('/Sync.json', { method: 'PUT', body })).status, 200)
    }
    const [one, other] = ['m_0000000000000001', 'm_0000000000000002']
    await push(one)
    assert.deepEqual(await shown(), [0, one])
    // The clock here was behind, and is put right.
    isBelieved = true
    assert.deepEqual(await shown(), [5, one])
    await push(other)
    assert.deepEqual(await shown(), [5, other])
    const again = await peer.fetch('/Sync.json', { headers: { 'If-None-Match': tag } })
    assert.equal(again.status, 304)
  })

  it('that comes too late leaves no trace in what its sender reads', async (t) => {
    const at = await serveGateway(t)
    const { device, password } = await at.devices.add({ kind: 'peer' })
    const peer = createPhone({ username: device.username, password }, at.url)
    const offer = async (text: string, stampedAt: number) => {
      const stamp = { stampedAt, stampedBy: 'm_0000000000000001' }
      const body = JSON.stringify({ type: 'Text', text, hash: sha256(text), ...stamp })
      return readObject(await peer.fetch('/Sync.json', { method: 'PUT', body }))
    }
    const newer = await offer('the newer text', 2)
    assert.deepEqual(await offer('the older text', 1), newer)
    const { hash } = await readObject(await peer.fetch('/SyncClipboard.json'))
    assert.equal(hash, sha256('the newer text'))
  })
})
