import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, readdir, stat } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { it } from 'node:test'
import { daemonCommand, startDaemonProcess } from '../support/daemon-process.ts'
import { createPhone, readObject } from '../support/phone.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The port of display 0. */
const X11_PORT = 6000

const HEADLESS = { args: ['--headless'] }

it('a headless daemon serves what a phone pushes, and survives being killed with it', async (t) => {
  const folder = await temporaryFolder(t)
  const first = await startDaemonProcess(t, { ...HEADLESS, folder, devices: ['Pixel'] })
  assert.deepEqual(
    [first.ready.mode, first.ready.clipboard, first.ready.pid],
    ['headless', 'none', first.child.pid],
  )
  const device = await first.pair('Pixel')
  const bytes = Buffer.alloc(3_000_000, 'clipgate')
  const phone = createPhone(device, first.ready.gateway)
  await phone.pushFile('File', 'a b.bin', bytes)
  await phone.pushText('hello')
  await first.kill()

  const second = await startDaemonProcess(t, { ...HEADLESS, folder })
  const again = createPhone(device, second.ready.gateway)
  assert.equal((await again.document())['text'], 'hello')
  const { item } = await readObject(await again.fetch('/phone/state'))
  assert.ok(typeof item === 'object' && item !== null && 'from' in item)
  assert.equal(item.from, 'Pixel')
  const response = await again.fetch('/file/a%20b.bin')
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes)
  assert.equal(await second.stop(), 0)
})

it('a headless daemon keeps everything in one private folder', async (t) => {
  const daemon = await startDaemonProcess(t, HEADLESS)
  const phone = await daemon.phone('Pixel')
  await phone.pushFile('File', 'a', Buffer.from('bytes'))
  await phone.fetch('/file/staged', { method: 'PUT', body: 'waits' })
  const data = join(daemon.folder, 'data')
  for (const path of ['', ...(await readdir(data, { recursive: true }))]) {
    const info = await stat(join(data, path))
    assert.equal((info.mode & 0o777).toString(8), info.isDirectory() ? '700' : '600', path)
  }
  const written = await Promise.all(
    ['devices.json', 'item.json', 'lock'].map((name) => readFile(join(data, name), 'utf8')),
  )
  const { password } = await daemon.pair('Other')
  assert.equal(
    written.some((text) => text.includes(password)),
    false,
  )
})

it('a headless daemon goes on headless, and says why, where there is no display', async (t) => {
  const daemon = await startDaemonProcess(t)
  assert.deepEqual([daemon.ready.mode, daemon.ready.clipboard], ['headless', 'none'])
  assert.equal(await daemon.stop(), 0)
  assert.match(daemon.stderr(), /DISPLAY/)
})

it('a daemon on a desktop listens as it was asked to while its clipboard cannot be opened', async (t) => {
  const daemon = await startDaemonProcess(t, {
    args: ['--clipboard', 'x11', '--log-level', 'info'],
    devices: ['Pixel'],
  })
  assert.deepEqual([daemon.ready.mode, daemon.ready.clipboard], ['desktop', 'none'])
  const phone = await daemon.phone('Pixel')
  await phone.pushText('hello')
  assert.equal((await phone.document())['text'], 'hello')
  const status = JSON.parse((await daemon.run('status', '--json')).stdout)
  assert.match(status.clipboardError, /DISPLAY/)
  assert.equal(await daemon.stop(), 0)
  assert.match(daemon.stderr(), /tried again/)
})

it('a daemon on a desktop serves its owner while its clipboard does not answer', async (t) => {
  // An X server that does not say hello.
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const command = daemonCommand(await temporaryFolder(t), {
    args: ['--clipboard', 'x11'],
    env: { DISPLAY: `127.0.0.1:${port - X11_PORT}` },
  })
  const child = command.spawn()
  t.after(() => child.kill('SIGKILL'))
  await once(server, 'connection')
  const { clipboard, running } = JSON.parse((await command.run('status', '--json')).stdout)
  assert.deepEqual([running, clipboard], [true, 'none'])
})
