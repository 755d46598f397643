import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { isolatedEnvironment } from '../support/daemon-process.ts'
import { needs } from '../support/requirements.ts'
import { connectTo, formatHead, formatRequest } from './support/raw-device.ts'
import { main, stage, startPaired } from './support/subject.ts'
import { limitFiles } from './support/vitals.ts'

describe('a daemon whose very first push met a lack of descriptors', needs('prlimit'), () => {
  it('is as fit as before after that', async (t) => {
    const { daemon, device, phone } = await startPaired(t)
    const client = await connectTo(daemon)
    await client.send(formatHead('GET /Sync.json', device)).read()
    limitFiles(daemon, 4)
    client.send(formatRequest('PUT /Sync.json', device, '{"type":"Text","text":"lost"}'))
    assert.ok((await client.read()).status >= 500)
    limitFiles(daemon, 512)
    await phone.pushText('hello')
  })
})

it('a command beside a daemon drops no upload that the settings keep', async (t) => {
  const env = { CLIPGATE_STAGING_TTL: '7d' }
  const { daemon, phone } = await startPaired(t, { env })
  await stage(phone, 'a', 'precious')
  await daemon.stop()
  const staging = join(daemon.folder, 'data', 'staging')
  const [name = ''] = await readdir(staging)
  const record = JSON.parse(await readFile(join(staging, name), 'utf8'))
  const stagedAt = record.stagedAt - 2 * 3_600_000
  await writeFile(join(staging, name), JSON.stringify({ ...record, stagedAt }))
  await daemon.run('devices')
  assert.deepEqual(await readdir(staging), [name])
})

it('a reader of a download that has seen enough is no failure', async (t) => {
  const { daemon, device, phone } = await startPaired(t)
  await phone.pushFile('File', 'a', Buffer.alloc(8_000_000))
  const link = join(daemon.folder, 'link')
  await writeFile(link, device.link)
  const args = ['pull', '--link-file', link, '--output', '-']
  const child = spawn(process.execPath, [main, ...args], {
    env: isolatedEnvironment(daemon.folder),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdout.once('data', () => child.stdout.destroy())
  assert.deepEqual(await once(child, 'close'), [0, null], stderr)
  assert.equal(stderr, '')
})
