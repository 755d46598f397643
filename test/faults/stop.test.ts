import assert from 'node:assert/strict'
import { once } from 'node:events'
import { it } from 'node:test'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { authorizationOf, connectTo, formatHead } from './support/raw-device.ts'

const HEADLESS = { args: ['--headless'] }

it('a daemon that is told to stop refuses what is new, lets an upload come to its end, and keeps it', async (t) => {
  const folder = await temporaryFolder(t)
  // Whoever waits for its end here is not to be hurried.
  const args = ['--headless', '--grace', '5m']
  const daemon = await startDaemonProcess(t, { args, folder })
  const device = await daemon.pair('Phone')
  const upload = await connectTo(daemon)
  const headers = 'Content-Length: 11\r\nExpect: 100-continue\r\n'
  upload.send(formatHead('PUT /file/a', device, headers))
  assert.equal((await upload.read()).status, 100)
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

  const next = await startDaemonProcess(t, { ...HEADLESS, folder })
  const phone = createPhone(device, next.ready.gateway)
  const body = JSON.stringify({ type: 'File', dataName: 'a', hasData: true })
  assert.equal((await phone.fetch('/Sync.json', { method: 'PUT', body })).status, 200)
  assert.equal(String(await phone.download()), 'hello world')
})

it('a daemon that is told to stop does not wait for an upload beyond the grace period, and keeps nothing of it', async (t) => {
  const folder = await temporaryFolder(t)
  const daemon = await startDaemonProcess(t, { args: ['--headless', '--grace', '0'], folder })
  const device = await daemon.pair('Phone')
  const upload = await connectTo(daemon)
  upload.send(formatHead('PUT /file/a', device, 'Content-Length: 11\r\nExpect: 100-continue\r\n'))
  assert.equal((await upload.read()).status, 100)
  upload.send('hello')
  daemon.child.kill('SIGTERM')
  assert.deepEqual(await once(daemon.child, 'exit'), [0, null])
  const next = await startDaemonProcess(t, { ...HEADLESS, folder })
  const { storage } = JSON.parse((await next.run('status', '--json')).stdout)
  assert.deepEqual([storage.stagedUploads, storage.stagedBytes], [0, 0])
})

it('a daemon that is killed has what it acknowledged, or what it was just being told', async (t) => {
  const folder = await temporaryFolder(t)
  let daemon = await startDaemonProcess(t, { ...HEADLESS, folder })
  const device = await daemon.pair('Phone')
  for (const pushes of [1, 2, 5]) {
    const phone = createPhone(device, daemon.ready.gateway)
    for (let number = 1; number < pushes; number++) await phone.pushText(`text ${number}`)
    const acknowledged = `file of round ${pushes}`
    await phone.pushFile('File', acknowledged, Buffer.from(acknowledged))
    const told = `told in round ${pushes}`
    // Whether it hears of it is left to chance.
    const push = phone.pushFile('File', told, Buffer.from(told)).catch(() => undefined)
    daemon.child.kill('SIGKILL')
    await once(daemon.child, 'exit')
    await push

    daemon = await startDaemonProcess(t, { ...HEADLESS, folder })
    const again = createPhone(device, daemon.ready.gateway)
    const { dataName } = await again.document()
    assert.ok([acknowledged, told].includes(String(dataName)), String(dataName))
    assert.equal(String(await again.download()), dataName)
  }
})
