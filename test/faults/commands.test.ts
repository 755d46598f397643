import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type DaemonProcess, isolatedEnvironment } from '../support/daemon-process.ts'
import { LOADER } from '../support/loader.ts'
import { createPhone } from '../support/phone.ts'
import { needs } from '../support/requirements.ts'
import { connectTo, formatHead } from './support/raw-device.ts'
import { startPaired } from './support/subject.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
async function limitFiles({ ready }: DaemonProcess, count: number): Promise<void> {
  await promisify(execFile)('prlimit', ['--pid', `${ready.pid}`, `--nofile=${count}:`])
}

describe('a daemon whose very first push met a lack of descriptors', needs('prlimit'), () => {
  it('is as fit as before after that', async (t) => {
    const { daemon, device } = await startPaired(t)
    const client = await connectTo(daemon)
    const body = '{"type":"Text","text":"lost"}'
    client.send(formatHead('GET /Sync.json', device))
    await client.read()
    await limitFiles(daemon, 4)
    client.send(formatHead('PUT /Sync.json', device, `Content-Length: ${body.length}\r\n`) + body)
    assert.ok((await client.read()).status >= 500)
    await limitFiles(daemon, 512)
    await createPhone(device, daemon.ready.gateway).pushText('hello')
  })
})

it('a command beside a daemon drops no upload that the settings keep', async (t) => {
  const env = { CLIPGATE_STAGING_TTL: '7d' }
  const { daemon, phone } = await startPaired(t, { env })
  await phone.fetch('/file/a', { method: 'PUT', body: 'precious' })
  await daemon.stop()
  const staging = join(daemon.folder, 'data', 'staging')
  const [name = ''] = await readdir(staging)
  const record = JSON.parse(await readFile(join(staging, name), 'utf8'))
  const stagedAt = record.stagedAt - 2 * 3_600_000
  await writeFile(join(staging, name), JSON.stringify({ ...record, stagedAt }))
  await daemon.run('status')
  assert.deepEqual(await readdir(staging), [name])
})

it('a command beside a daemon works while the daemon waits for an upload to end', async (t) => {
  const { daemon, device } = await startPaired(t, { args: ['--grace', '5m'] })
  const upload = await connectTo(daemon)
  upload.send(formatHead('PUT /file/a', device, 'Content-Length: 3\r\nExpect: 100-continue\r\n'))
  assert.equal((await upload.read()).status, 100)
  daemon.child.kill('SIGTERM')
  const headers = { connection: 'close' }
  while ((await fetch(`${daemon.ready.gateway}/healthz`, { headers })).status !== 503);
  await daemon.run('revoke', device.id)
})

it('a reader of a download that has seen enough is no failure', async (t) => {
  const { daemon, device, phone } = await startPaired(t)
  await phone.pushFile('File', 'a', Buffer.alloc(8_000_000))
  const link = join(daemon.folder, 'link')
  await writeFile(link, device.link)
  const args = ['pull', '--link-file', link, '--output', '-']
  const child = spawn(process.execPath, [...LOADER, MAIN, ...args], {
    env: isolatedEnvironment(daemon.folder),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdout.once('data', () => child.stdout.destroy())
  assert.deepEqual(await once(child, 'close'), [0, null], stderr)
  assert.equal(stderr, '')
})
