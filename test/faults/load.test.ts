import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { PairedDevice } from '../support/daemon-process.ts'
import { byNight } from '../support/night.ts'
import type { RawClient } from '../support/raw-http.ts'
import { isTlsSpoken } from '../support/secure-twin.ts'
import { connectTo, FORM_TYPE, formatHead, formatPart } from './support/raw-device.ts'
import { startPaired } from './support/subject.ts'
import { needsDisk, needsProc, rememberVitals } from './support/vitals.ts'
import { MIB } from '../../src/core/limits.ts'

const BLOCK: Buffer = Buffer.alloc(256 * 1024, 'not compressed by anything on the way')

/** A daemon after its first login, with an item that is to survive. */
async function start(t: TestContext) {
  const { daemon, device, phone } = await startPaired(t)
  await phone.pushFile('File', 'before', Buffer.alloc(64 * MIB, 'bytes '))
  // No `most` is more than half of what it would take if it kept what it is sent or has to send: no
  // collection of garbage comes near that.
  return { daemon, device, phone, ...rememberVitals(t, daemon) }
}

/** Sends `bytes` bytes, at the pace of the daemon. */
async function pour({ socket }: RawClient, bytes: number): Promise<void> {
  for (let sent = 0; sent < bytes; sent += BLOCK.length) {
    const piece = BLOCK.subarray(0, bytes - sent)
    if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve))
  }
}

describe('twelve uploads at once', needsDisk(2), () => {
  // Protocol: Memory does not grow with the size of an upload
  it('are all taken, and take little memory', async (t) => {
    const { daemon, device, hasGrownBy } = await start(t)
    const size = 32 * MIB
    const headers = `Content-Length: ${size}\r\n`
    await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const client = await connectTo(daemon)
        client.send(formatHead(`PUT /file/${index}`, device, headers))
        await pour(client, size)
        assert.equal((await client.read()).status, 200)
        client.close()
      }),
    )
    hasGrownBy(192)
    const { storage } = JSON.parse((await daemon.run('status', '--json')).stdout)
    assert.deepEqual([storage.stagedUploads, storage.stagedBytes], [12, 12 * size])
  })
})

/** At night, a little more than 32 bits can count. */
const HUGE = byNight(2 ** 31 + 5 * MIB, { byDay: 2 ** 28 })

const PART = formatPart('name="data"; filename="a"', '')

describe('gigabytes that are cut off in the end', needsDisk(6), () => {
  it('leave nothing, and took no memory, in a file and in a form', async (t) => {
    const { daemon, device, phone, vitals, before, hasGrownBy } = await start(t)
    const length = `Content-Length: ${HUGE + 1000}\r\n`
    await Promise.all(
      [
        ['PUT /file/a', length, ''],
        ['POST /api/history', `${FORM_TYPE}${length}`, PART],
      ].map(async ([line = '', headers = '', part = '']) => {
        const client = await connectTo(daemon)
        client.send(formatHead(line, device, headers) + part)
        await pour(client, HUGE)
        assert.ok(vitals.blobs().length > before.uploads.length, 'nothing is written')
        client.close()
      }),
    )
    await vitals.settled(before)
    hasGrownBy(byNight(1024, { byDay: 192 }))
    assert.equal((await phone.document())['dataName'], 'before')
    assert.equal((await phone.download()).length, 64 * MIB)
    assert.equal(daemon.stderr(), '')
  })
})

describe('downloads that nobody reads', needsProc, () => {
  /** Asks `count` times, on connections of their own, and waits until all answers have begun. */
  async function beginReading(
    daemon: Awaited<ReturnType<typeof start>>['daemon'],
    device: PairedDevice,
    count: number,
    line = 'GET /file/before',
  ): Promise<readonly RawClient[]> {
    const clients: RawClient[] = []
    for (let index = 0; index < count; index++) {
      const client = await connectTo(daemon)
      clients.push(client)
      client.send(formatHead(line, device))
      assert.match(await client.readUntil('\r\n\r\n'), /^HTTP\/1.1 200 /)
      client.socket.pause()
    }
    return clients
  }

  for (const count of [6, byNight(500, { byDay: 100 })]) {
    it(`take little memory, and keep nobody waiting: ${count} of them`, async (t) => {
      const { daemon, device, phone, vitals, before, hasGrownBy } = await start(t)
      const clients = await beginReading(daemon, device, count)
      assert.equal((await phone.download()).length, 64 * MIB)
      await phone.pushText('after')
      assert.equal((await phone.document())['text'], 'after')
      // Encrypted, what is on its way is there twice.
      hasGrownBy(isTlsSpoken() ? 256 : 192)
      for (const client of clients) client.close()
      await vitals.settled({ descriptors: before.descriptors })
      assert.equal(daemon.stderr(), '')
    })
  }

  it('take the memory of one copy of a long text, as documents and records', async (t) => {
    const { daemon, device, phone, hasGrownBy } = await start(t)
    const text = 'x'.repeat(16 * MIB - 100)
    await phone.pushText(text)
    const { hash } = await phone.document()
    const record = `/api/history/Text-${String(hash)}`
    for (const path of ['/Sync.json', '/SyncClipboard.json', record]) {
      const clients = await beginReading(daemon, device, 20, `GET ${path}`)
      t.after(() => {
        for (const client of clients) client.close()
      })
    }
    // Each connection has buffers of its own for what it encrypts.
    hasGrownBy(isTlsSpoken() ? 160 : 128)
    assert.equal((await phone.document())['text'], text)
  })

  it('take little memory, of long texts one after the other', async (t) => {
    const { daemon, device, phone, hasGrownBy } = await start(t)
    for (let index = 0; index < 20; index++) {
      const text = String(index).padEnd(16 * MIB - 100, 'x')
      await phone.pushText(text)
      const [client] = await beginReading(daemon, device, 1, 'GET /Sync.json')
      t.after(() => client?.close())
    }
    assert.equal((await phone.document())['size'], 16 * MIB - 100)
    hasGrownBy(320)
    assert.equal(daemon.stderr(), '')
  })
})

describe('long documents at once', needsProc, () => {
  const document = JSON.stringify({ type: 'Text', text: 'x'.repeat(16 * MIB - 100) })

  it('are taken as far as there is memory for them; the others are told to come again', async (t) => {
    const { daemon, device, phone, hasGrownBy } = await start(t)
    const push = async (): Promise<number> => {
      const client = await connectTo(daemon)
      const length = `Content-Length: ${document.length}\r\nExpect: 100-continue\r\n`
      const { status } = await client.send(formatHead('PUT /Sync.json', device, length)).read()
      if (status !== 100) return status
      const answer = await client.send(document).read()
      client.close()
      return answer.status
    }
    const statuses = await Promise.all(Array.from({ length: 12 }, push))
    assert.deepEqual([...new Set(statuses)].sort(), [200, 503])
    hasGrownBy(320)
    // What one had to leave is there for the next.
    assert.equal(await push(), 200)
    await phone.pushText('after')
  })

  it('that never come whole keep no short one out', async (t) => {
    const { daemon, device, phone, vitals, before, hasGrownBy } = await start(t)
    const clients: RawClient[] = []
    for (const headers of [
      `Content-Length: ${document.length}\r\n`,
      'Transfer-Encoding: chunked\r\n',
    ]) {
      for (let index = 0; index < 10; index++) {
        const client = await connectTo(daemon)
        clients.push(client)
        const size = headers.startsWith('T') ? `${document.length.toString(16)}\r\n` : ''
        client.send(formatHead('PUT /Sync.json', device, headers) + size)
        await pour(client, 2 * MIB)
      }
    }
    await phone.pushText('short')
    assert.equal((await phone.document())['text'], 'short')
    hasGrownBy(160)
    for (const client of clients) client.close()
    await vitals.settled({ descriptors: before.descriptors })
  })
})
