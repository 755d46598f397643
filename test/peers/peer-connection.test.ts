import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { describe, it } from 'node:test'
import { systemTiming } from '../../src/client/timing.ts'
import { openClient } from '../../src/peers/open-client.ts'
import { PeerConnection } from '../../src/peers/peer-connection.ts'
import { defer } from '../support/defer.ts'
import { startMember } from './support/circle.ts'
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
    const url = `http://127.0.0.1:${port}`
    const client = openClient({ url, username: 'peer_1', password: 'password' })
    t.after(() => client.close())
    const link = new PeerConnection('stuck', {
      ...member,
      blobs,
      client,
      timing: systemTiming,
      memberId: member.id,
      changes: member.feed,
      maxFileBytes: 1000,
      onChange: () => undefined,
    })
    link.start()
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
