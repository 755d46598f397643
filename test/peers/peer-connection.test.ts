import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { describe, it } from 'node:test'
import { defer } from '../support/defer.ts'
import { connectTo, startMember } from './support/circle.ts'
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
