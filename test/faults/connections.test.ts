import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import type { DaemonOptions, DaemonProcess } from '../support/daemon-process.ts'
import type { RawClient } from '../support/raw-http.ts'
import { needs } from '../support/requirements.ts'
import { twinOf } from '../support/secure-twin.ts'
import { askOnce, connectTo, formatHead } from './support/raw-device.ts'
import { startPaired } from './support/subject.ts'
import { needsProc, rememberVitals } from './support/vitals.ts'

/** A daemon with a file of a few blocks, after its first login. */
async function start(t: TestContext, options: DaemonOptions = {}) {
  const { daemon, device, phone } = await startPaired(t, options)
  await phone.pushFile('File', 'a', Buffer.alloc(4 * 2 ** 20, 'bytes '))
  return {
    daemon,
    device,
    phone,
    ...rememberVitals(t, daemon),
    ask: (line: string, body = '') => askOnce(daemon, line, device, body),
  }
}

/** Connects and says nothing. */
async function connectSilently(
  { ready }: DaemonProcess,
  localAddress = '127.0.0.1',
): Promise<Socket> {
  const { hostname, port } = new URL(ready.gateway)
  const to = twinOf(Number(port))
  const socket = connect({ host: hostname, port: to.port, localAddress })
  // Being hung up on is what is to be seen.
  socket.on('error', () => undefined).resume()
  await once(socket, 'connect')
  return socket
}

/** How many of them are still open after the daemon has answered somebody else. */
function countOpen(sockets: readonly Socket[]): number {
  return sockets.filter((socket) => !socket.closed).length
}

describe('strangers who send thousands of requests and leave', () => {
  it('leave nothing of them in a small heap', async (t) => {
    const env = { NODE_OPTIONS: '--max-old-space-size=96' }
    const { daemon, phone } = await startPaired(t, { env })
    const requests = 'GET /healthz HTTP/1.1\r\nHost: box\r\n\r\n'.repeat(2000)
    /** One that leaves with its first answer. */
    const come = async (index: number): Promise<void> => {
      const socket = await connectSilently(daemon, `127.0.0.${2 + index}`)
      socket.once('data', () => socket.destroy()).write(requests)
      await new Promise((resolve) => socket.once('close', resolve))
    }
    await Promise.all(Array.from({ length: 50 }, (_, index) => come(index)))
    await phone.pushText('still here')
    assert.equal((await phone.document())['text'], 'still here')
  })
})

describe('thousands of silent connections', needsProc, () => {
  it('are kept up to a limit, cost little, and keep nobody out', async (t) => {
    const limits = ['--max-connections', '1000', '--max-connections-per-address', '300']
    const { daemon, phone, vitals, before, hasGrownBy, ask } = await start(t, { args: limits })
    const sockets: Socket[] = []
    for (let index = 0; index < 3000; index++) {
      sockets.push(await connectSilently(daemon, `127.0.0.${2 + (index % 30)}`))
    }
    assert.equal((await ask('GET /Sync.json')).status, 200)
    const open = vitals.descriptors() - before.descriptors
    assert.ok(open <= 1000, `${open} descriptors more`)
    hasGrownBy(48)
    assert.equal((await phone.download()).length, 4 * 2 ** 20)

    for (const socket of sockets) socket.destroy()
    await vitals.settled(before)
    assert.equal(daemon.stderr(), '')
  })

  it('of one address leave room for all others', async (t) => {
    const limits = ['--max-connections', '1000', '--max-connections-per-address', '20']
    const { daemon, ask } = await start(t, { args: limits })
    const sockets: Socket[] = []
    for (let index = 0; index < 200; index++) {
      sockets.push(await connectSilently(daemon, '127.0.0.2'))
    }
    assert.equal((await ask('GET /Sync.json')).status, 200)
    while (countOpen(sockets) > 20) await ask('GET /Sync.json')
    assert.equal(countOpen(sockets), 20)
    for (const socket of sockets) socket.destroy()
  })
})

describe('connections that are reset', needsProc, () => {
  it('in the middle of a request, 600 times, leave nothing', async (t) => {
    const { daemon, device, phone, vitals, before, hasGrownBy } = await start(t)
    const length = 'Content-Length: 1000\r\n'
    const form = `Content-Type: multipart/form-data; boundary=b\r\n${length}`
    const part = '--b\r\nContent-Disposition: form-data; name="data"; filename="a"\r\n\r\nhello'
    const starts = [
      '',
      'GE',
      'GET /Sync.json HTTP/1.1\r\nHo',
      formatHead('GET /file/a', device),
      formatHead('GET /api/sse/clipboard', device),
      formatHead('PUT /file/b', device, length),
      `${formatHead('PUT /file/b', device, length)}${'x'.repeat(500)}`,
      `${formatHead('PUT /Sync.json', device, length)}{"type":`,
      `${formatHead('POST /api/history', device, form)}${part}`,
      `${formatHead('PUT /file/b', device, 'Transfer-Encoding: chunked\r\n')}5\r\nhel`,
    ]
    for (let index = 0; index < 600; index++) {
      const client = await connectTo(daemon)
      client.send(starts[index % starts.length] ?? '')
      // Some before anything of it was read, some in the middle of the answer.
      if (index % 3 === 0) await phone.fetch('/healthz')
      client.socket.resetAndDestroy()
    }
    await vitals.settled(before)
    const [listed] = JSON.parse((await daemon.run('devices', '--json')).stdout)
    assert.equal(listed.streams, 0)
    hasGrownBy(48)
    assert.equal((await phone.download()).length, 4 * 2 ** 20)
    assert.equal(daemon.stderr(), '')
  })
})

const FEW_FILES = { wrapper: ['prlimit', '--nofile=256'] }

describe('a daemon that may have 256 descriptors', needs('prlimit'), () => {
  it('keeps some of them for those who come later, and for its owner', async (t) => {
    const { daemon, phone, vitals, before, ask } = await start(t, FEW_FILES)
    const sockets: Socket[] = []
    for (let index = 0; index < 600; index++) sockets.push(await connectSilently(daemon))
    assert.equal((await ask('GET /Sync.json')).status, 200)
    assert.ok(vitals.descriptors() < 200, `${vitals.descriptors()} descriptors`)
    assert.equal((await ask('GET /file/a')).body.length, 4 * 2 ** 20)
    assert.equal((await ask('PUT /file/b', 'hello')).status, 200)
    assert.equal(JSON.parse((await daemon.run('status', '--json')).stdout).running, true)

    for (const socket of sockets) socket.destroy()
    await phone.pushText('after')
    await vitals.settled({ descriptors: before.descriptors })
    assert.equal(daemon.stderr(), '')
  })

  it('turns away who comes while all are busy, and recovers by itself', async (t) => {
    const { daemon, device, phone, vitals, before, ask } = await start(t, FEW_FILES)
    // No device has enough uploads to have to give one up.
    const devices = [device, await daemon.pair('Second'), await daemon.pair('Third')]
    const uploads: RawClient[] = []
    const headers = 'Content-Length: 5\r\nExpect: 100-continue\r\n'
    let refused = 0
    for (let index = 0; index < 300; index++) {
      const client = await connectTo(daemon)
      uploads.push(client)
      const head = formatHead('PUT /file/b', devices[index % devices.length] ?? device, headers)
      const answer = await client
        .send(head)
        .read()
        .catch(() => undefined)
      if (answer?.status !== 100) refused += 1
    }
    assert.ok(refused >= 200, `${refused} were refused`)
    assert.ok(refused < 300, 'some were taken')
    const [first, ...others] = uploads
    assert.equal((await first?.send('hello').read())?.status, 200)
    for (const client of [...others, ...uploads]) client.close()
    while (vitals.descriptors() > before.descriptors)
      await ask('GET /healthz').catch(() => undefined)
    await phone.pushFile('File', 'c', Buffer.from('after'))
    assert.equal(String(await phone.download()), 'after')
  })
})

describe('a client that does not wait for answers', needsProc, () => {
  it('costs next to nothing behind an answer that takes time, and gets every answer', async (t) => {
    const { daemon, device, phone, vitals, before, hasGrownBy } = await start(t)
    const client = await connectTo(daemon)
    // Verifying takes a while.
    client.send(formatHead('GET /Sync.json', { ...device, password: 'not the password' }))
    client.send('DELETE / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(30_000))
    client.send(formatHead('GET /api/version', device, 'Connection: close\r\n'))
    const answers = await client.readToEnd()
    assert.equal(answers.match(/HTTP\/1\.1 401 /g)?.length, 30_001)
    assert.equal(answers.match(/HTTP\/1\.1 200 /g)?.length, 1)
    await vitals.settled({ descriptors: before.descriptors })
    // 64 of them may be those of a verification.
    hasGrownBy(112)
    assert.equal((await phone.download()).length, 4 * 2 ** 20)
    assert.equal(daemon.stderr(), '')
  })

  it('costs next to nothing behind an event stream, and goes with it', async (t) => {
    const { daemon, device, vitals, before, hasGrownBy, phone } = await start(t)
    const client = await connectTo(daemon)
    client.send(formatHead('GET /api/sse/clipboard', device))
    await client.readUntil('event: hello')
    client.send('DELETE / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2_000_000))
    for (let looks = 0; looks < 200; looks++) await phone.fetch('/healthz')
    assert.ok(client.socket.writableLength > 0, 'the daemon reads on')
    hasGrownBy(48)
    client.close()
    await daemon.run('revoke', device.id)
    await vitals.settled({ descriptors: before.descriptors })
    assert.equal(daemon.stderr(), '')
  })

  it('gets few downloads at a time', async (t) => {
    const { daemon, device, phone, vitals, before, hasGrownBy } = await start(t)
    const clients: RawClient[] = []
    for (const count of [600, 17, 10]) {
      const client = await connectTo(daemon)
      clients.push(client)
      client.socket.pause()
      client.send(formatHead('GET /file/a', device).repeat(count))
    }
    for (let looks = 0; looks < 100; looks++) await phone.fetch('/healthz')
    const open = vitals.descriptors() - before.descriptors
    hasGrownBy(64)
    assert.ok(open <= 50, `${open} descriptors more`)
    for (const client of clients) client.close()
    await vitals.settled(before)
  })
})
