import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sha256 } from '../support/hashes.ts'
import { createPhone } from '../support/phone.ts'
import { connectTo, formatHead } from './support/raw-device.ts'
import { commit, startHeadless, startPaired } from './support/subject.ts'
import { until, waitingFiles } from './support/waiting-files.ts'

it('an upload that breaks off leaves nothing, and the earlier one of its name as it was', async (t) => {
  const { daemon, device, phone } = await startPaired(t, { args: ['--max-file-bytes', '1MiB'] })
  await phone.fetch('/file/a', { method: 'PUT', body: 'the earlier one' })
  const before = await waitingFiles(daemon)
  assert.equal(before.length, 2)

  const begin = async (framing: string, part: string) => {
    const client = await connectTo(daemon)
    client.send(formatHead('PUT /file/a', device, framing) + part)
    await until(phone, async () => (await waitingFiles(daemon)).length > before.length)
    return client
  }
  const cleaned = () =>
    until(phone, async () => (await waitingFiles(daemon)).length === before.length)
  const bytes = 'x'.repeat(1000)

  const aborted = await begin('Content-Length: 5000\r\n', bytes)
  aborted.close()
  await cleaned()

  const halfClosed = await begin('Content-Length: 5000\r\n', bytes)
  halfClosed.socket.end()
  assert.equal((await halfClosed.read()).status, 400)
  await cleaned()

  const chunked = 'Transfer-Encoding: chunked\r\n'
  const malformed = await begin(chunked, `3e8\r\n${bytes}\r\n`)
  malformed.send('no size\r\n')
  assert.equal((await malformed.read()).status, 400)
  await cleaned()

  const tooLong = await begin(chunked, `3e8\r\n${bytes}\r\n`)
  tooLong.send(`100000\r\n${'x'.repeat(0x100000)}\r\n`)
  const refusal = await tooLong.read()
  assert.deepEqual([refusal.status, refusal.headers['connection']], [413, 'close'])
  await cleaned()

  assert.deepEqual(await waitingFiles(daemon), before)
  assert.equal(await commit(phone, 'a'), 200)
  assert.equal(String(await phone.download()), 'the earlier one')
})

it('an upload is one whole file when several of one name come at once', async (t) => {
  const { daemon, phone } = await startPaired(t)
  const candidates = ['A', 'B', 'C', 'D', 'E'].map((letter, index) =>
    Buffer.alloc(300_000 + 100_000 * index, letter),
  )
  const hashes = candidates.map((bytes) => sha256(bytes))
  const upload = async (body: Buffer): Promise<void> => {
    assert.equal((await phone.fetch('/file/race', { method: 'PUT', body })).status, 200)
    // Another one may have been committed in between, and then the name is current already.
    assert.equal(await commit(phone, 'race'), 200)
    const got = await (await phone.fetch('/file/race')).arrayBuffer()
    assert.ok(candidates.some((bytes) => bytes.equals(Buffer.from(got))))
  }
  for (let round = 0; round < 3; round++) await Promise.all(candidates.map(upload))

  const document = await phone.document()
  const current = hashes.indexOf(String(document['hash']))
  assert.deepEqual(await phone.download(), candidates[current])
  assert.equal(document['size'], candidates[current]?.length)
  await until(phone, async () => (await waitingFiles(daemon)).length === 1)
})

it('an upload is of no use to another device', async (t) => {
  const daemon = await startHeadless(t)
  const [mine, theirs] = [await daemon.pair('Mine'), await daemon.pair('Theirs')].map((device) =>
    createPhone(device, daemon.ready.gateway),
  )
  assert.ok(mine !== undefined && theirs !== undefined)
  await mine.fetch('/file/a', { method: 'PUT', body: 'secret' })
  assert.equal(await commit(theirs, 'a'), 404)
  assert.equal((await theirs.fetch('/file/a')).status, 404)
  assert.equal((await theirs.document())['text'], '')
  assert.equal(await commit(mine, 'a'), 200)
})

it('a download ends with the bytes it began with, whatever becomes current meanwhile', async (t) => {
  const { daemon, phone } = await startPaired(t)
  // More than sockets buffer.
  const bytes = Buffer.alloc(24 * 1024 * 1024, 'the old bytes, ')
  await phone.pushFile('File', 'a', bytes)
  const response = await phone.fetch('/file/a')
  await phone.pushFile('File', 'a', Buffer.from('the new bytes'))
  assert.equal((await waitingFiles(daemon)).length, 1)
  assert.ok(bytes.equals(Buffer.from(await response.arrayBuffer())))
  assert.equal(String(await phone.download()), 'the new bytes')
})
