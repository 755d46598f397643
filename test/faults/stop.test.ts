import assert from 'node:assert/strict'
import { once } from 'node:events'
import { it } from 'node:test'
import { createPhone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { announce, authorizationOf, connectTo, formatHead } from './support/raw-device.ts'
import { startHeadless, startPaired, take } from './support/subject.ts'

// Protocol: have the grace period
it('a daemon that is told to stop refuses what is new, lets an upload come to its end, and keeps it', async (t) => {
  const folder = await temporaryFolder(t)
  // Whoever waits for its end here is not to be hurried.
  const { daemon, device } = await startPaired(t, { args: ['--grace', '5m'], folder })
  const upload = await announce(daemon, device, 'PUT /file/a', 11)
  const idle = await connectTo(daemon)
  idle.send(formatHead('GET /', device))
  assert.equal((await idle.read()).status, 200)

  daemon.child.kill('SIGTERM')
  // Closed as soon as it drains.
  assert.equal(await idle.readToEnd(), '')
  const authorization = authorizationOf(device)
  for (const [line, rest] of [
    ['GET /healthz', ''],
    ['HEAD /healthz', ''],
    ['GET /Sync.json', authorization],
    ['GET /Sync.json', ''],
    ['PUT /file/b', `${authorization}Content-Length: 3\r\nExpect: 100-continue\r\n`],
  ] as const) {
    const client = await connectTo(daemon)
    client.send(`${line} HTTP/1.1\r\nHost: clipgate.example\r\n${rest}\r\n`)
    const { status, headers } = await client.read(line.split(' ', 1)[0])
    assert.equal(status, 503, line)
    assert.equal(headers['retry-after'], '1', line)
    assert.equal(headers['cache-control'], 'no-store', line)
    assert.equal(headers['connection'], 'close', line)
    client.close()
  }
  upload.send('hello world')
  const { status, headers: answered } = await upload.read()
  assert.deepEqual([status, answered['connection']], [200, 'close'])
  assert.deepEqual(await once(daemon.child, 'exit'), [0, null])

  const next = await startHeadless(t, { folder })
  const phone = createPhone(device, next.ready.gateway)
  assert.equal(await take(phone, 'a'), 'hello world')
})

it('a daemon that is told to stop does not wait for an upload beyond the grace period, and keeps nothing of it', async (t) => {
  const folder = await temporaryFolder(t)
  const { daemon, device } = await startPaired(t, { args: ['--grace', '0'], folder })
  const upload = await announce(daemon, device, 'PUT /file/a', 11)
  upload.send('hello')
  daemon.child.kill('SIGTERM')
  assert.deepEqual(await once(daemon.child, 'exit'), [0, null])
  const next = await startHeadless(t, { folder })
  const { storage } = JSON.parse((await next.run('status', '--json')).stdout)
  assert.deepEqual([storage.stagedUploads, storage.stagedBytes], [0, 0])
})
