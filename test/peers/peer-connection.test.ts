import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { describe, it } from 'node:test'
import { MIB } from '../../src/core/limits.ts'
import { only } from '../../src/lib/read-bytes.ts'
import { defer } from '../support/defer.ts'
import { sha256 } from '../support/hashes.ts'
import { connectTo, startMember } from './support/circle.ts'
import { startProxy } from './support/counting-proxy.ts'
import { TALK_BYTES } from './support/topology.ts'
import { listen } from '../support/listen.ts'

const DOCUMENT = {
  type: 'File',
  text: 'a.bin',
  hasData: true,
  size: 100,
  hash: 'ab'.repeat(32),
  dataName: 'a.bin',
  contentId: `blake3v1:${'cd'.repeat(32)}`,
  stampedAt: 4_000_000_000_000,
  stampedBy: 'm_00000000000000ff',
}

describe('a link', () => {
  it('leaves one name of a file that has two with one stamp, and moves no bytes for it', async (t) => {
    const bytes = randomBytes(MIB)
    const names = ['a.txt', 'b.txt'].sort((a, b) =>
      sha256(`File|${a}`) < sha256(`File|${b}`) ? -1 : 1,
    )
    const stamp = { at: 1, member: 'm_00000000000000ff' }
    const origin = { kind: 'peer', stamp, deviceId: undefined } as const
    for (const [ofFirst = '', ofSecond = ''] of [names, names.toReversed()]) {
      const [first, second] = [await startMember(t, 1), await startMember(t, 2)]
      for (const [member, dataName] of [
        [first, ofFirst],
        [second, ofSecond],
      ] as const) {
        const blob = await member.blobs.receive(only(bytes), { maxBytes: MIB })
        const received = { kind: 'received', blob, mediaType: 'text/plain' } as const
        const item = { origin, type: 'File', text: dataName, dataName, hash: '' } as const
        await member.inbound.apply({ ...item, bytes: received })
      }
      await second.devices.add({ kind: 'peer', username: 'peer_1', password: 'password' })
      const wire = await startProxy(t, second.url)
      connectTo(t, first, wire)
      await Promise.all([first, second].map((member) => member.has(names[1] ?? '')))
      await first.copy('afterwards')
      await Promise.all([first, second].map((member) => member.has('afterwards')))
      assert.ok(wire.bytes < TALK_BYTES, `${wire.bytes} bytes`)
    }
  })

  it('that is closed has ended what it received, and kept none of it', async (t) => {
    const [asked, hungUp] = [defer<void>(), defer<void>()]
    const server = createServer((request, response) => {
      if (request.url === '/Sync.json') response.end(JSON.stringify(DOCUMENT))
      else if (request.url === '/api/sse/clipboard') {
        response
          .writeHead(200, { 'Content-Type': 'text/event-stream' })
          .write('event: hello\ndata: {}\n\n')
      } else {
        response.on('close', () => hungUp.resolve())
        response.writeHead(200, { 'Content-Length': 100 }).write('half of it')
        asked.resolve()
      }
    })
    const port = await listen(t, server)
    const member = await startMember(t, 1)
    const [begun, aborted, cleanedUp] = [defer<void>(), defer<void>(), defer<void>()]
    const blobs = {
      receive: async (...args: Parameters<typeof member.blobs.receive>) => {
        begun.resolve()
        try {
          return await member.blobs.receive(...args)
        } finally {
          aborted.resolve()
          await cleanedUp.promise
        }
      },
    }
    const link = connectTo(t, member, { url: `http://127.0.0.1:${port}` }, { blobs })
    await Promise.all([asked.promise, begun.promise])
    let isClosed = false
    const closing = link.close().then(() => (isClosed = true))
    // The other side hears of the end: whatever else there is to be waited for is over by then.
    await Promise.all([aborted.promise, hungUp.promise])
    assert.equal(isClosed, false, 'the blob is still being cleaned up')
    cleanedUp.resolve()
    await closing
    assert.equal(member.latest.current, undefined)
  })
})
