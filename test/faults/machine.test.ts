import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { startDaemonProcess, temporaryFolder, type DaemonProcess } from '../support/daemon-process.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { connectTo, formatHead } from './support/raw-device.ts'

const HEADLESS = { args: ['--headless'] }

/** Sets how many files a running daemon may have open. */
async function limitFiles({ ready }: DaemonProcess, count: number): Promise<void> {
  await promisify(execFile)('prlimit', ['--pid', `${ready.pid}`, `--nofile=${count}:`])
}

describe('a daemon that may not open another file', needs('prlimit'), () => {
  it('refuses what it cannot do meanwhile, and is as fit as before after that', async (t) => {
    const daemon = await startDaemonProcess(t, HEADLESS)
    const device = await daemon.pair('Phone')
    const phone = createPhone(device, daemon.ready.gateway)
    await phone.pushFile('File', 'a', Buffer.from('before'))
    const client = await connectTo(daemon)
    const ask = async (line: string, body = '') => {
      const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`
      client.send(formatHead(line, device, length) + body)
      return client.read()
    }
    assert.equal((await ask('GET /Sync.json')).status, 200)

    // It has more open already.
    await limitFiles(daemon, 4)
    assert.equal((await ask('PUT /file/b', 'lost')).status, 500)
    assert.equal((await ask('PUT /Sync.json', '{"type":"Text","text":"lost"}')).status, 500)
    assert.equal((await ask('GET /file/a')).status, 500)
    // What needs no file is answered.
    assert.equal((await ask('GET /healthz')).status, 204)
    assert.equal(JSON.parse((await ask('GET /Sync.json')).body).dataName, 'a')

    await limitFiles(daemon, 512)
    assert.equal((await ask('GET /file/a')).body, 'before')
    await phone.pushFile('File', 'b', Buffer.from('after'))
    assert.equal(String(await phone.download()), 'after')
    await phone.pushText('and a text')
    assert.equal(await daemon.stop(), 0)
  })
})

describe('a data directory', () => {
  it('is private whatever the umask says', async (t) => {
    const folder = await temporaryFolder(t)
    const earlier = process.umask(0)
    const starting = startDaemonProcess(t, { ...HEADLESS, folder })
    // The process has been made, and has its own.
    process.umask(earlier)
    const daemon = await starting
    const phone = createPhone(await daemon.pair('Phone'), daemon.ready.gateway)
    await phone.pushFile('File', 'a', Buffer.from('bytes'))
    await phone.fetch('/file/b', { method: 'PUT', body: 'waits' })
    const data = join(folder, 'data')
    for (const path of ['', ...(await readdir(data, { recursive: true }))]) {
      const stats = await lstat(join(data, path))
      assert.equal((stats.mode & 0o777).toString(8), stats.isDirectory() ? '700' : '600', path)
    }
  })

  it('may hold what others planted: nothing is followed, changed or removed', async (t) => {
    const folder = await temporaryFolder(t)
    const data = join(folder, 'data')
    const first = await startDaemonProcess(t, { ...HEADLESS, folder })
    const device = await first.pair('Phone')
    await createPhone(device, first.ready.gateway).pushFile('File', 'a', Buffer.from('mine'))
    await first.stop()

    const victim = join(folder, 'victim')
    await writeFile(victim, 'not ours')
    await chmod(victim, 0o644)
    const links = ['blobs/' + 'b'.repeat(32), 'staging/' + 'c'.repeat(32) + '.json', 'control.token.tmp']
    for (const link of links) await symlink(victim, join(data, link))
    const files = ['blobs/notes.txt', 'staging/notes.txt', 'notes.txt']
    for (const file of files) await writeFile(join(data, file), 'not ours either')
    await mkdir(join(data, 'blobs', 'd'.repeat(32)))

    const second = await startDaemonProcess(t, { ...HEADLESS, folder })
    const phone = createPhone(device, second.ready.gateway)
    await phone.pushFile('File', 'b', Buffer.from('mine again'))
    assert.equal(await second.stop(), 0)
    for (const link of links) assert.equal(await readlink(join(data, link)), victim)
    for (const file of files) assert.equal(await readFile(join(data, file), 'utf8'), 'not ours either')
    assert.ok((await lstat(join(data, 'blobs', 'd'.repeat(32)))).isDirectory())
    assert.equal(await readFile(victim, 'utf8'), 'not ours')
    assert.equal(((await lstat(victim)).mode & 0o777).toString(8), '644')
  })
})
